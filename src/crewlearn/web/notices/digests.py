"""Digests: who wants one where and when, and taking them on, so that nobody gets more than one a day.

A server that takes a digest on notes the day first and sends it then. If it ends in between, that day has no digest:
at most once is worth more here than at least once.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.engine import now_on
from crewlearn.advisor.ledger.notices.addresses import checked_url
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.text import checked_text
from crewlearn.language import _
from crewlearn.problem.errors import InvalidInput, Unknown
from crewlearn.web.auth.access import Caller, caller_of_row
from crewlearn.web.notices.confirmations import count_confirmation

MAIL, CHAT = "mail", "chat"
NO_MAIL, UNCONFIRMED, ASKED, CONFIRMED = "none", "unconfirmed", "asked", "confirmed"
DEFAULT_TIME = "06:30"
LATEST_MINUTES = 6 * 60
"""Minutes after its time at which a digest is left out, as when no server ran in the morning."""
MOST_TRIES = 5
PAUSE_SECONDS = 300.0
LONGEST_EMAIL = 254
_EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


@dataclass(frozen=True)
class DigestChoice:
    """A user's choice: where the digest goes, at what time of the server's day, and about which sites.

    Without an e-mail address and a chat address there is none. `state` says whether the address was confirmed by the
    link that was sent to it: until then, nothing else is. `fault` is why the last digest was not sent.
    """

    email: str = ""
    chat_url: str = ""
    time: str = DEFAULT_TIME
    sites: tuple[str, ...] = ()
    state: str = NO_MAIL
    fault: str = ""


def choice_of(store: Store, user: str) -> DigestChoice:
    """Return a user's choice; sites that they do not see any more are left out."""
    with store.reading() as connection:
        return _choice(connection, _key_of(connection, user))


def choose(store: Store, caller: Caller, wanted: DigestChoice) -> DigestChoice:
    """Set a user's choice; a new e-mail address must be confirmed before digests go there."""
    _check(store, caller, wanted)
    table, of_sites = schema.digests, schema.digest_sites
    moment, minute = store.clock(), _minute(wanted.time)
    with store.changing() as connection:
        user = _key_of(connection, caller.name)
        before = connection.execute(sa.select(table).where(table.c.user == user)).one_or_none()
        state = NO_MAIL if not wanted.email else UNCONFIRMED
        if before is not None and wanted.email and before.email == wanted.email:
            state = before.email_state
        if state == UNCONFIRMED and (before is None or before.email != wanted.email):
            count_confirmation(connection, user, wanted.email, moment.timestamp())
        passed = moment.hour * 60 + moment.minute >= minute
        today = moment.date().toordinal()
        values: dict[str, Any] = {
            "email": wanted.email,
            "email_state": state,
            "chat_url": wanted.chat_url,
            "minute": minute,
            "day": max(today if passed else today - 1, 0 if before is None else before.day),
            "pending": "",
            "tries": 0,
            "next_try": 0.0,
            "fault": "",
        }
        if before is None:
            connection.execute(table.insert().values(user=user, code=secrets.token_urlsafe(32), **values))
        else:
            code = before.code if before.email == wanted.email else secrets.token_urlsafe(32)
            connection.execute(table.update().where(table.c.user == user).values(code=code, **values))
        connection.execute(of_sites.delete().where(of_sites.c.user == user))
        keys = sorted({store.key(connection, site) for site in wanted.sites})
        if keys:
            connection.execute(of_sites.insert(), [{"user": user, "site": key} for key in keys])
        return _choice(connection, user)


def _check(store: Store, caller: Caller, wanted: DigestChoice) -> None:
    if wanted.email:
        checked_text("email", wanted.email, LONGEST_EMAIL)
        if not _EMAIL.fullmatch(wanted.email):
            raise InvalidInput("email", wanted.email, _("must be an address such as ann@example.org"))
    if wanted.chat_url:
        checked_url("chat_url", wanted.chat_url)
    _minute(wanted.time)
    known = set(store.names())
    for site in wanted.sites:
        if site not in known or not caller.sees(site):
            raise Unknown("site", site, _("does not exist, or is not one of yours"))
    if (wanted.email or wanted.chat_url) and not wanted.sites:
        raise InvalidInput("sites", [], _("must name at least one site; or leave out both addresses for no digest"))


def _minute(time: str) -> int:
    match = _TIME.fullmatch(time)
    if match is None:
        raise InvalidInput("time", time, _("must be a time of day such as 06:30"))
    return int(match[1]) * 60 + int(match[2])


def _key_of(connection: sa.Connection, user: str) -> int:
    key = connection.execute(sa.select(schema.users.c.id).where(schema.users.c.name == user)).scalar()
    if key is None:
        raise Unknown("user", user, _("does not exist; see: crewlearn users list"))
    return int(key)


def _choice(connection: sa.Connection, user: int) -> DigestChoice:
    table = schema.digests
    row = connection.execute(sa.select(table).where(table.c.user == user)).one_or_none()
    if row is None:
        return DigestChoice()
    return DigestChoice(
        email=row.email,
        chat_url=row.chat_url,
        time=f"{row.minute // 60:02d}:{row.minute % 60:02d}",
        sites=tuple(_sites_of(connection, user)),
        state=row.email_state,
        fault=row.fault,
    )


def _sites_of(connection: sa.Connection, user: int) -> Sequence[str]:
    """Return the sites of a user's digest that they may see, by name."""
    table, sites = schema.digest_sites, schema.sites
    query = sa.select(sites.c.name).join(table, table.c.site == sites.c.id).where(table.c.user == user)
    names = connection.execute(query.order_by(sites.c.name)).scalars().all()
    caller = _caller_of(connection, user)
    return [] if caller is None else [name for name in names if caller.sees(name)]


def _caller_of(connection: sa.Connection, user: int) -> Caller | None:
    users = schema.users
    row = connection.execute(sa.select(users).where(users.c.id == user, users.c.disabled.is_(False))).one_or_none()
    return None if row is None else caller_of_row(connection, row)


# --- links in messages, which need no sign-in


def confirm(store: Store, code: str) -> str:
    """Confirm the e-mail address that a code was sent to; return the address."""
    table = schema.digests
    with store.changing() as connection:
        row = _by_code(connection, code)
        connection.execute(table.update().where(table.c.user == row.user).values(email_state=CONFIRMED))
        return str(row.email)


def stop(store: Store, code: str) -> None:
    """Stop the digest whose message had a code, in all channels; the sites and the time stay chosen."""
    table = schema.digests
    with store.changing() as connection:
        row = _by_code(connection, code)
        values = {"email": "", "email_state": NO_MAIL, "chat_url": "", "pending": "", "fault": ""}
        connection.execute(table.update().where(table.c.user == row.user).values(values))


def address_of_code(store: Store, code: str) -> str:
    """Return the e-mail address that a code belongs to, empty if the digest was stopped."""
    with store.reading() as connection:
        return str(_by_code(connection, code).email)


def _by_code(connection: sa.Connection, code: str) -> Any:
    table = schema.digests
    known = code.isascii() and code.isprintable()  # PostgreSQL refuses some characters
    row = connection.execute(sa.select(table).where(table.c.code == code)).one_or_none() if known else None
    if row is None:
        raise Unknown(
            "code", "of this link", _("belongs to no digest any more; choose again on the page Notifications")
        )
    return row


# --- taking digests on


@dataclass(frozen=True)
class Due:
    """A digest that this server has taken on, or (if `asks`) the message that asks to confirm an address."""

    user: int
    caller: Caller
    channels: tuple[str, ...]
    email: str
    chat_url: str
    sites: tuple[str, ...]
    code: str
    asks: bool = False


def take_due(store: Store, *, mail: bool) -> Due | None:
    """Take on a digest that is due, for the channels that can be used; return None if there is none.

    Of several servers one gets it, as each notes the day on condition that nobody else did.
    """
    table, moment = schema.digests, store.clock()
    today, minute = moment.date().toordinal(), moment.hour * 60 + moment.minute
    with store.reading() as connection:
        now = now_on(connection)
        morning = sa.and_(table.c.day < today, table.c.minute <= minute)
        retry = sa.and_(table.c.day == today, table.c.pending != "", table.c.next_try <= now)
        asks = sa.and_(table.c.email_state == UNCONFIRMED, table.c.next_try <= now) if mail else sa.false()
        wanted = sa.or_(table.c.email != "", table.c.chat_url != "")
        rows = connection.execute(
            sa.select(table).where(wanted, sa.or_(morning, retry, asks)).order_by(table.c.user)
        ).all()
    for row in rows:
        with store.changing() as connection:
            asked = mail and row.email_state == UNCONFIRMED and row.next_try <= now
            taken = _take(connection, row, today, minute, mail=mail, asks=asked)
        if taken is not None:
            return taken
    return None


def _take(connection: sa.Connection, row: Any, today: int, minute: int, *, mail: bool, asks: bool) -> Due | None:
    table = schema.digests
    values: dict[str, Any]
    if asks:
        channels, values = [MAIL], {"email_state": ASKED}
    elif row.day < today:
        late = minute - row.minute > LATEST_MINUTES
        channels = [] if late else _channels(row, mail)
        values = {"day": today, "pending": "", "tries": 0, "next_try": 0.0}
    else:
        channels, values = row.pending.split(), {"pending": ""}
    unchanged = [table.c[name] == getattr(row, name) for name in ("day", "pending", "email_state", "email", "chat_url")]
    if connection.execute(table.update().where(table.c.user == row.user, *unchanged).values(values)).rowcount != 1:
        return None
    caller, sites = _caller_of(connection, row.user), _sites_of(connection, row.user)
    if caller is None or not channels or not (sites or asks):
        return None
    return Due(row.user, caller, tuple(channels), row.email, row.chat_url, tuple(sites), row.code, asks)


def _channels(row: Any, mail: bool) -> list[str]:
    by_mail = mail and row.email and row.email_state == CONFIRMED
    return [*([MAIL] if by_mail else []), *([CHAT] if row.chat_url else [])]


def note(store: Store, due: Due, faults: dict[str, str]) -> None:
    """Note which channels failed for certain, so that they are tried again; no faults clear the last one."""
    table = schema.digests
    with store.changing() as connection:
        row = connection.execute(sa.select(table).where(table.c.user == due.user)).one_or_none()
        if row is None or (row.email, row.chat_url) != (due.email, due.chat_url):
            return
        values: dict[str, Any] = {"fault": "; ".join(faults.values())[:300]}
        if faults:
            tries = row.tries + 1
            left = tries < MOST_TRIES
            values |= {"tries": tries, "next_try": now_on(connection) + PAUSE_SECONDS * 2.0**row.tries}
            if due.asks:
                values["email_state"] = UNCONFIRMED if left else ASKED
            else:
                values["pending"] = " ".join(faults) if left else ""
        connection.execute(table.update().where(table.c.user == due.user).values(values))
