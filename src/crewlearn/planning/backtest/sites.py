"""Backtests of live sites, and of files that are read into a site of their own for the purpose."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crewlearn.advisor.advice.commands import create_site
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.files.columns import OUTPUT, WORKERS
from crewlearn.advisor.files.imports import ImportFile, ImportOptions, take_in
from crewlearn.advisor.ledger.settings.config import SiteConfig
from crewlearn.advisor.ledger.site import BLOCKED, Site
from crewlearn.planning.backtest.replay import replay
from crewlearn.planning.backtest.report import Backtest, in_money
from crewlearn.planning.futures.record import Record
from crewlearn.planning.futures.worlds import Terms
from crewlearn.planning.limits import FEWEST_RUNS, MOST_REPLAYS
from crewlearn.planning.plan import held_back, mean_fee
from crewlearn.planning.site_record import read_record
from crewlearn.planning.sums import delay_law
from crewlearn.problem.errors import InvalidInput, whole

FIRST_DAY = 31
"""The first day of advice, if none is named: a month is on record before."""

ACTOR = "backtest"


def backtest(
    site: Site,
    record: Record,
    first: int = FIRST_DAY,
    *,
    runs: int = 200,
    seed: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Backtest:
    """Replay a site's record with its policy's advice from working day `first` of the record on."""
    whole("runs", runs, FEWEST_RUNS, MOST_REPLAYS)
    whole("from", first, 1)
    config, policy = site.config, site.policy
    fee, periods = mean_fee(site, config), record.days - first + 1
    terms = Terms(
        team=config.team,
        periods=max(1, periods),
        cost=config.units.policy_cost(fee),
        delay=delay_law(site.mean_delay if config.learn_delay else config.mean_delay),
        rolling=config.horizon if config.rolling else None,
        fee_due=config.fee_due,
    )
    replayed = replay(
        record,
        held_back({config.policy: policy}, config)[config.policy],
        terms,
        first,
        runs=runs,
        seed=seed,
        may_enter=tuple(worker.status != BLOCKED for worker in site.workers),
        may_leave=tuple(not worker.pinned for worker in site.workers),
        progress=progress,
    )
    return in_money(
        replayed,
        config.policy,
        _day(site, record, first).isoformat(),
        money_of_one=config.units.money_of_one,
        fee=fee,
        paid_on_completion=config.fee_due == "completion",
        runs=runs,
        seed=seed,
        notes=tuple(_notes(site, record, fee)),
    )


def _day(site: Site, record: Record, number: int) -> date:
    """Return the date of a day of the record, which counts from 1."""
    calendar = site.config.calendar
    return calendar.date_of(calendar.period_at(calendar.order_of(site.period) - record.days + number - 1))


def day_number(site: Site, record: Record, day: date) -> int:
    """Return the number of the first day of the record on or after a date."""
    for number in range(1, record.days + 1):
        if _day(site, record, number) >= day:
            return number
    raise InvalidInput("from", day.isoformat(), f"must lie on the record, which ends before {site.day.isoformat()}")


def _notes(site: Site, record: Record, fee: float) -> Iterator[str]:
    yield f"Every hire, real or advised, costs {fee:,.2f}; people without a day on record are drawn from the pool."
    yield "The policy sees only what was on record by each day; levels and days are what the whole record tells."
    yield "Whoever really left the team unasked leaves on that day; whoever was let go could still have been kept."
    if any(worker.fee is not None for worker in site.workers):
        yield "People have fees of their own: their mean is used."
    if not site.config.rolling:
        yield "The site's horizon is fixed: the advice is for the days of the replay alone."


def backtest_files(
    output: tuple[str, bytes],
    workers: tuple[str, bytes] | None,
    config: SiteConfig,
    first: int | date = FIRST_DAY,
    **options: Any,
) -> Backtest:
    """Replay files of output and, if given, of workers, each with its name; nothing of them is kept.

    They are read as detection proposes, and the team is taken from who produced.
    """
    with TemporaryDirectory() as folder, open_store(f"sqlite:///{Path(folder) / 'backtest.db'}") as store:
        create_site(store, ACTOR, config, ACTOR)
        if workers is not None:
            take_in(store, ACTOR, ImportFile(WORKERS.kind, workers[1], ImportOptions(), workers[0]), ACTOR)
        reading = ImportOptions(yes=True, team_from_output=True, accept_unusual=True)
        take_in(store, ACTOR, ImportFile(OUTPUT.kind, output[1], reading, output[0]), ACTOR)
        site, record = read_record(store, ACTOR)
        number = day_number(site, record, first) if isinstance(first, date) else first
        return backtest(site, record, number, **options)
