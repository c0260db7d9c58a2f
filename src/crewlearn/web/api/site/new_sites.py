"""What an export suggests for a new site, and what its first advice would be; nothing is written."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from crewlearn.advisor.files.columns import OUTPUT
from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.setup.opening import NewSite, rehearsed
from crewlearn.advisor.setup.proposals import propose_site
from crewlearn.web.api.common import LISTING, answer
from crewlearn.web.api.files import CsvBody, DateOrder, DecimalMark, Maps, Where, csv_body
from crewlearn.web.api.models.base import Fee, Positive
from crewlearn.web.api.models.site.new_sites import ProposedSite
from crewlearn.web.auth.access import ADMIN, Caller, require
from crewlearn.web.errors.problems import answers
from crewlearn.web.snapshots import snapshot

router = APIRouter(tags=["sites"])


@router.post(
    "/new-sites/csv",
    response_model=ProposedSite,
    operation_id="checkNewSite",
    openapi_extra=csv_body("Badge,Date,Units\n0113,2026-11-16,84\n0207,2026-11-16,79\n"),
    responses=LISTING | answers(403, 409, 415),
)
def check_new_site(
    request: Request,
    caller: Annotated[Caller, require(ADMIN)],
    data: CsvBody,
    site: Annotated[str, Query(max_length=100, description="The name that the site would have.")] = "new site",
    fee: Annotated[Fee | None, Query(strict=False, description="What a replacement costs, in money.")] = None,
    value_per_unit: Annotated[
        Positive | None, Query(strict=False, description="Money that one more unit brings.")
    ] = None,
    hours_per_period: Annotated[
        Positive | None, Query(strict=False, description="Hours of a day: output then counts by the hour.")
    ] = None,
    maps: Maps = None,
    decimal: DecimalMark = None,
    dates: DateOrder = None,
    where: Where = None,
) -> Response:
    """Report what an export of output suggests for a new site; nothing is recorded.

    Each setting comes with its reason. With `fee` and `value_per_unit`, which no file can tell, the first advice is
    reported too. To set the site up, create it with these settings and import the file with `yes` and
    `team_from_output`.
    """
    store: Store = request.app.state.store
    options = ImportOptions(mapping_of(maps), decimal, dates, where=tuple(where or ()))
    file = ImportFile(OUTPUT.kind, data, options)
    proposal = propose_site(file, store.clock().date(), hours_per_period)
    advice = None
    if fee is not None and value_per_unit is not None:
        new = NewSite(site, proposal.config({"fee": fee, "value_per_unit": value_per_unit}), proposal, file)
        with rehearsed(store, new, caller.name) as (scratch, _):
            advice = snapshot(scratch, site).sentence
    return answer({**proposal.to_json(), "first_advice": advice})
