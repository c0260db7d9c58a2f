"""The team in requests and answers."""

from typing import Annotated

from pydantic import Field

from crewlearn.web.api.models.base import Count, Day, Model, WorkerId

MOST_STINTS = 10_000

StationNumber = Annotated[int, Field(strict=True, ge=1, le=10**5)]
_ON = "The first day that this is so, possibly long ago; by default the coming one."


class TeamStation(Model):
    """A station and who holds it; null if it is empty."""

    station: Count = Field(description="Counted from 1.")
    worker_id: str | None = Field(description="The firm's own id; null if the station is empty or the person erased.")
    name: str | None
    since: Day | None


class TeamStint(Model):
    """Somebody at a station, from their first through their last day; null if they are there now."""

    station: Count
    worker_id: str | None
    name: str | None
    from_: Day = Field(alias="from")
    until: Day | None


class TeamView(Model):
    """Who holds which station now, and everybody who did, by station and time."""

    site: str
    stations: list[TeamStation]
    stints: list[TeamStint]


class TeamChanged(TeamView):
    """The team after a change, how many spans of time at a station were recorded, and the advice now."""

    recorded: Count
    advice: str


class NewTeam(Model):
    """The whole team from a day on; who has a station keeps it."""

    members: list[WorkerId] = Field(max_length=10**5)
    on: Day | None = Field(default=None, description=_ON)


class Arrival(Model):
    """Somebody took a station outside advice; whoever held it left it."""

    worker_id: WorkerId
    station: StationNumber | None = Field(default=None, description="Counted from 1; by default an empty one.")
    on: Day | None = Field(default=None, description=_ON)


class Departure(Model):
    """Somebody left their station outside advice, and stays in the pool."""

    worker_id: WorkerId
    on: Day | None = Field(default=None, description="The first day they were not there; by default the coming one.")


class NewStint(Model):
    """Somebody at a station from their first through their last day."""

    worker_id: WorkerId
    station: StationNumber | None = Field(default=None, description="By default the one they held, or an empty one.")
    from_: Day = Field(alias="from")
    until: Day | None = Field(default=None, description="The last day; null if they are there now.")


class NewStints(Model):
    """Stints to record or correct, all or none."""

    stints: list[NewStint] = Field(min_length=1, max_length=MOST_STINTS)
