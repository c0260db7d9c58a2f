"""When each setting got its current value, and who set it."""

from datetime import datetime
from typing import NamedTuple

from crewlearn.advisor.ledger.events import Event, RangeChanged, SiteChanged, SiteCreated
from crewlearn.advisor.ledger.queries import read_events
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.wording.settings import differences, in_words


class Since(NamedTuple):
    """The day a setting's current value took effect, and who set it."""

    day: str
    actor: str


def settings_since(store: Store, name: str) -> dict[str, Since]:
    """Return when each setting got its value, by its flat key: the day of the first period it applies to."""
    since: dict[str, Since] = {}
    config: SiteConfig | None = None
    with store.reading() as connection:
        key = store.key(connection, name)
        for event in read_events(connection, key, kinds=(SiteCreated, SiteChanged, RangeChanged)):
            fact = event.fact
            if isinstance(fact, SiteCreated):
                config = fact.config
                since = dict.fromkeys(in_words(config), Since(_day(event, config), event.actor))
            elif isinstance(fact, SiteChanged):
                assert config is not None
                before, config = config, fact.config_after(config)
                day = _day(event, config) if fact.period is None else str(config.calendar.date_of(fact.period))
                since |= {changed.setting: Since(day, event.actor) for changed in differences(before, config)}
    return {} if config is None else {setting: since[setting] for setting in in_words(config)}


def _day(event: Event, config: SiteConfig) -> str:
    """Return the day an event was recorded, in the site's time zone or else on this machine's clock."""
    return str(config.local(datetime.fromisoformat(event.at).astimezone()).date())
