"""Models of rows match the columns of files."""

from dataclasses import fields, replace

import pytest

from crewlearn.advisor.files.cells import CellType
from crewlearn.advisor.files.columns import IMPORTED, OUTPUT, WORKERS, OutputRow, WorkerRow
from crewlearn.web.api.models import columns
from crewlearn.web.api.models.site import output, workers


def test_rows_models_and_files_have_the_same_columns() -> None:
    assert tuple(output.NewOutput.model_fields) == OUTPUT.names
    assert tuple(workers.NewWorker.model_fields) == WORKERS.names
    assert {field.name for field in fields(OutputRow)} == {"line", *(column.row_field for column in OUTPUT.columns)}
    assert [field.name for field in fields(WorkerRow)] == [column.row_field for column in WORKERS.columns]


@pytest.mark.parametrize("kind", list(IMPORTED))
def test_a_type_of_cell_that_the_api_does_not_know_is_refused(kind: str) -> None:
    strange = CellType("strange", lambda conventions: str)
    name = IMPORTED[kind].names[0]
    with pytest.raises(TypeError, match=f"no type for cells of column {name}, strange"):
        columns.sent(IMPORTED[kind].with_types({name: strange}))


def test_a_new_column_is_a_field_of_the_api() -> None:
    more = replace(OUTPUT, columns=(*OUTPUT.columns, replace(OUTPUT["hours"], name="pauses", help="Hours of rest.")))
    assert columns.sent(more).model_fields["pauses"].description == "Hours of rest."
    assert "pauses" in columns.listed(more).model_fields
