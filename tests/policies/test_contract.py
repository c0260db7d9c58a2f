"""What policies are shown: it cannot be changed, and it can be kept."""

import copy
import pickle

import pytest

from crewlearn.policies.contract import Report


def test_a_report_is_read_only_and_can_be_copied_and_pickled() -> None:
    report = Report(3, {1: 2.0}, ((0, 1),), left=(4,))
    with pytest.raises(TypeError, match="does not support item assignment"):
        report.output[1] = 3.0  # type: ignore[index]  # the type says so, too
    for kept in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert kept == report
        assert list(kept.output) == [1]
