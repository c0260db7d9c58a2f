"""Figures for operators, as Prometheus collects them; at the root of the server, where it looks for them."""

from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from crewlearn.problem.extras import REMEDY
from crewlearn.web.auth.access import VIEWER, Caller, require
from crewlearn.web.observing.meters import meters
from crewlearn.web.observing.store_figures import StoreFigures

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
def metrics(request: Request, caller: Annotated[Caller, require(VIEWER)]) -> Response:
    """Return the figures of the server and its store: any role may see them, at all sites, as they name every site."""
    if caller.sites is not None:
        raise HTTPException(403, f"figures of all sites take a user of all sites; {caller.name} is limited to some")
    kept = meters()
    if kept is None:
        raise HTTPException(404, f"figures take prometheus-client; on the server, run: {REMEDY.format(extra='server')}")
    from prometheus_client.exposition import choose_encoder

    registry = kept.collected()
    registry.register(StoreFigures(request.app.state.store))
    encode, media_type = choose_encoder(request.headers.get("accept", ""))
    return Response(encode(registry), headers={"Content-Type": media_type})
