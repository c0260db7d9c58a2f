"""`crewlearn workers` and `crewlearn output`: import files; change and erase workers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crewlearn.cli.live.session import (
    DEFAULT_DB,
    ActorOption,
    DaysOption,
    DbOption,
    SiteArgument,
    UntilOption,
    advice_of,
    opened,
    read_bytes,
    read_site,
    read_term,
    warn,
    who,
)
from crewlearn.cli.output import option_said, print_json

if TYPE_CHECKING:
    from crewlearn.advisor.files.recording.import_result import ImportResult

workers = typer.Typer(help="Import, change and erase workers.", no_args_is_help=True)
output = typer.Typer(help="Import output.", no_args_is_help=True)

FileArgument = Annotated[Path, typer.Argument(help="CSV file or .xlsx workbook.")]
MapOption = Annotated[
    list[str] | None, typer.Option("--map", help="column=header, if the file names a column differently; repeatable.")
]
DecimalOption = Annotated[str | None, typer.Option(help="Decimal mark, . or , if the file is ambiguous.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
YesOption = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Accept what is found in the file (layout, columns, sums, newcomers, overtime days), and keep it as the "
        "site's profile.",
    ),
]
TeamOption = Annotated[bool, typer.Option("--team-from-output", help="Take the team from who produced.")]
UnusualOption = Annotated[
    bool, typer.Option("--accept-unusual", help="Record output that is far from what is expected, or of few people.")
]
CorrectOption = Annotated[bool, typer.Option("--correct", help="Overwrite recorded output that differs from the file.")]
WorkerArgument = Annotated[str, typer.Argument(help="The worker's id at the firm.")]

_LISTED = 20
"""Rows listed that need a confirmation."""


@workers.command("import")
def import_workers_command(
    site: SiteArgument,
    file: FileArgument,
    map_: MapOption = None,
    decimal: DecimalOption = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Import workers: worker_id and optionally name, active, fee, prior_n, prior_mean, status, interview, pinned."""
    with opened(db) as store:
        from crewlearn.advisor.files.cells import decimal_mark
        from crewlearn.advisor.files.columns import WORKERS
        from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of, take_in

        data = read_bytes(file)
        options = ImportOptions(mapping_of(map_), decimal_mark(decimal))
        done = take_in(store, site, ImportFile(WORKERS.kind, data, options, file.name), who(actor))
        _report(done, "worker", advice_of(store, site), json)


@workers.command("erase")
def erase_command(
    site: SiteArgument, worker: WorkerArgument, db: DbOption = DEFAULT_DB, actor: ActorOption = None
) -> None:
    """Erase a person's data from the store; the record keeps only a number."""
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import erase_worker

        erase_worker(store, site, worker, who(actor))
        print(f"Erased {worker} from the store; the record keeps only a number. {advice_of(store, site)}")
        warn([store.leftover] if store.leftover else [])


@workers.command("retention")
def retention_command(
    site: SiteArgument,
    days: Annotated[
        int | None, typer.Option(min=0, help="List who left so many days ago, instead of as the site is set.")
    ] = None,
    erase: Annotated[bool, typer.Option("--erase", help="Erase them now, as a running server does every day.")] = False,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """List who left so long ago that they are erased (setting erase_after); nothing is erased without --erase."""
    with opened(db) as store:
        from crewlearn.advisor.advice.retention import due_for_erasure, erase_departed
        from crewlearn.advisor.ledger.identities import read_people
        from crewlearn.advisor.ledger.text import counted
        from crewlearn.problem.errors import InvalidInput

        with store.reading() as connection:
            key, now, _ = store.site(connection, site)
            people = read_people(connection, key)
            due = due_for_erasure(connection, key, now, now.config.day_of(store.clock()), days)
        if erase and days is not None:
            raise InvalidInput("days", days, "only lists; to erase, set it: crewlearn site set SITE erase_after=N")
        if now.config.erase_after is None and days is None:
            raise InvalidInput("erase_after", "none", "is not set; set it: crewlearn site set SITE erase_after=90")
        listed = [{"worker_id": people.ids[person.worker], "left": str(person.left)} for person in due]
        erased = len(erase_departed(store, site)) if erase else 0
    if json:
        print_json({"due": listed, "erased": erased})
        return
    for person in due:
        print(f"{people.label(person.worker)}, left {person.left}")
    several = counted(erased if erase else len(due), "person", "people")
    print(f"Erased {several}." if erase else f"{several} to erase; nothing was erased.")


@workers.command("set")
def set_command(
    site: SiteArgument,
    worker: WorkerArgument,
    status: Annotated[str | None, typer.Option(help="pool, blocked or left.")] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pin/--unpin", help="Never propose to replace them, or allow it again.")
    ] = None,
    blocked: Annotated[
        bool | None, typer.Option("--block/--unblock", help="Do not propose to bring them in, or allow it again.")
    ] = None,
    until: UntilOption = None,
    days: DaysOption = None,
    reason: Annotated[str, typer.Option(help="Why they are pinned or blocked, for the record.")] = "",
    fee: Annotated[str | None, typer.Option(help="Fee for hiring them, or none for the site's fee.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Record that a worker left, returned, is blocked or pinned, or has their own fee.

    With --until, --days or --reason, a pin or block has an end or a reason on record.
    """
    with opened(db) as store:
        from crewlearn.advisor.advice.remarks import set_worker

        if blocked is not None:
            status = "blocked" if blocked else "pool"
        options: dict[str, Any] = {"status": status, "pinned": pinned}
        changes = {name: value for name, value in options.items() if value is not None}
        if fee is not None:
            changes["fee"] = None if fee.strip().lower() in ("none", "") else _amount(fee)
        term = read_term(until, days)
        done = set_worker(store, site, worker, who(actor), changes, reason, term=term if term.is_named else None)
        ends = "" if done.until is None else f" until {done.until}"
        said = [f"{hold}{ends}" for hold in done.holds]
        said += [f"{key}: {_shown(key, old)} → {_shown(key, new)}" for key, (old, new) in done.changes.items()]
        print(f"{worker}: {'; '.join(said)}. {advice_of(store, site)}" if said else f"{worker}: nothing changed.")


@workers.command("note")
def note_command(
    site: SiteArgument,
    worker: WorkerArgument,
    text: Annotated[str | None, typer.Argument(help="The note; left out, what is on record is shown.")] = None,
    until: UntilOption = None,
    days: DaysOption = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Write a note on a worker, with an end if you like; or show the notes, and why they are pinned or blocked.

    The record keeps notes, as it keeps reasons: write nothing in it that must be erased with the person.
    """
    with opened(db) as store:
        from crewlearn.advisor.advice.commands import unknown_worker
        from crewlearn.advisor.advice.remarks import FOR_GOOD, add_note
        from crewlearn.advisor.wording.remarks import remark_lines

        if text is not None:
            term = read_term(until, days)
            add_note(store, site, worker, who(actor), text, term=term if term.is_named else FOR_GOOD)
        now, people = read_site(store, site)
        number = next((number for number, known in people.ids.items() if known == worker), None)
        if number is None:
            raise unknown_worker(worker, len(people.ids))
        for line in remark_lines(now, number) or ["Nothing is noted."]:
            print(line)


def _amount(text: str) -> float:
    from crewlearn.problem.errors import InvalidInput

    try:
        return float(text)
    except ValueError as error:
        raise InvalidInput("fee", text, "must be a number with a decimal point, or none for the site's fee") from error


def _shown(key: str, value: Any) -> str:
    if key == "fee":
        return "the site's" if value is None else f"{value:,.10g}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@output.command("import")
def import_output_command(
    site: SiteArgument,
    file: FileArgument,
    yes: YesOption = False,
    correct: CorrectOption = False,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Skip and count rows of unknown workers, such as erased ones.")
    ] = False,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="Only rows with HEADER=VALUE, such as Area=Pick; repeatable.")
    ] = None,
    map_: MapOption = None,
    decimal: DecimalOption = None,
    dates: Annotated[str | None, typer.Option(help="day-first or month-first, if the file is ambiguous.")] = None,
    team_from_output: TeamOption = False,
    accept_unusual: UnusualOption = False,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """Import output, all rows or none: date or period, worker_id, units, optionally shift, hours, attendance.

    Other layouts are read too: titles above the header, totals, several rows a person and day, names only, time
    stamps. --yes accepts what is found and keeps it as a profile, so that the next such file needs no option.
    """
    with opened(db) as store:
        from crewlearn.advisor.files.cells import date_order, decimal_mark
        from crewlearn.advisor.files.columns import OUTPUT
        from crewlearn.advisor.files.imports import ImportFile, ImportOptions, mapping_of, take_in
        from crewlearn.advisor.files.recording.guard import HeldOutput

        data = read_bytes(file)
        options = ImportOptions(
            mapping_of(map_),
            decimal_mark(decimal),
            date_order(dates),
            correct,
            skip_unknown,
            yes=yes,
            where=tuple(where or ()),
            overtime=yes,
            team_from_output=team_from_output,
            accept_unusual=accept_unusual,
        )
        try:
            done = take_in(store, site, ImportFile(OUTPUT.kind, data, options, file.name), who(actor))
        except HeldOutput as held:
            warn(str(oddity) for oddity in held.oddities[:_LISTED])
            raise
        _report(done, "row", advice_of(store, site), json)


@output.command("watch")
def watch_command(
    site: SiteArgument,
    folder: Annotated[Path, typer.Argument(help="Folder in which exports appear.")],
    yes: YesOption = False,
    correct: CorrectOption = False,
    team_from_output: TeamOption = False,
    accept_unusual: UnusualOption = False,
    every: Annotated[float, typer.Option(min=0.05, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="End when the files that are there are taken in.")] = False,
    seconds: Annotated[float | None, typer.Option(min=0.0, help="End after so many seconds.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
) -> None:
    """Take in files as they appear in a folder, and move them to done or failed, each with a report.

    Files are read by the site's profiles, or as plain output files. A file is taken in once it has stopped growing.
    """
    with opened(db) as store:
        from crewlearn.advisor.files.imports import ImportOptions
        from crewlearn.advisor.files.intake.watching import FolderWatch, watch
        from crewlearn.advisor.ledger.text import options_said

        options = ImportOptions(
            correct=correct,
            yes=yes,
            overtime=yes,
            team_from_output=team_from_output,
            accept_unusual=accept_unusual,
        )
        read_site(store, site)  # an unknown site is told at once
        try:
            for taken in watch(
                FolderWatch(store, site, folder, who(actor), options), every=every, once=once, seconds=seconds
            ):
                print(options_said(taken.report(), option_said), end="", flush=True)
        except KeyboardInterrupt:
            print("Stopped watching.")


@output.command("profiles")
def profiles_command(
    site: SiteArgument,
    remove: Annotated[str | None, typer.Option("--remove", help="Remove the profile of this name.")] = None,
    db: DbOption = DEFAULT_DB,
    actor: ActorOption = None,
    json: JsonOption = False,
) -> None:
    """List how the site's files are read, or remove such a profile."""
    with opened(db) as store:
        from crewlearn.advisor.files.detection.sentences import plan_sentences
        from crewlearn.advisor.files.intake.profiles import plans_of, profiles_of, remove_profile

        if remove is not None:
            remove_profile(store, site, remove, who(actor))
        if json:
            print_json({name: dict(profile) for name, profile in profiles_of(store, site).items()})
            return
        if remove is not None:
            print(f"Removed the profile “{remove}”.")
        plans = plans_of(profiles_of(store, site))
        for name, plan in plans.items():
            print(f"{name}: {' '.join(plan_sentences(plan))}")
        if not plans and remove is None:
            print("No profile yet: import a file with --yes to keep how it is read.")


def _report(done: "ImportResult", what: str, advice: str, json: bool) -> None:
    if json:
        from crewlearn.advisor.wording import documents

        print_json(documents.recorded(done, advice))
        return
    from crewlearn.advisor.ledger.text import counted, options_said

    for sentence in done.reading:
        print(options_said(sentence, option_said))
    corrected = f" ({done.corrected:,} of them corrected)" if done.corrected else ""
    skipped = f", {done.skipped:,} skipped" if done.skipped else ""
    enrolled = f", {counted(done.enrolled, 'newcomer')} enrolled" if done.enrolled else ""
    print(f"{counted(done.recorded, what)} recorded{corrected}, {done.known:,} already on record{skipped}{enrolled}.")
    warn(options_said(warning, option_said) for warning in done.warnings)
    print(advice)
