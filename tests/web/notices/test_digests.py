"""Digests by a real mail server and a real chat receiver on loopback: confirmed, once a day, and stopped by a link."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from crewlearn.advisor.advice import commands
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.store import Store
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.auth import users
from crewlearn.web.auth.access import MANAGER, VIEWER, Caller
from crewlearn.web.auth.failures import count_failure
from crewlearn.web.notices import digests
from crewlearn.web.notices.confirmations import MOST_BY_USER, MOST_TO_ADDRESS
from crewlearn.web.notices.digests import CONFIRMED, DigestChoice, choice_of, choose, take_due
from crewlearn.web.notices.rounds import Rounds
from crewlearn.web.settings import MailSettings, Settings
from support.stores import ME, proposed, site_with_proposals
from support.web.app import Clock, client, two_sites
from support.web.receiving import receiver

pytestmark = [
    pytest.mark.filterwarnings("ignore:Requiring AUTH"),  # without TLS, which is right on loopback
    pytest.mark.filterwarnings("ignore:Session.login_data"),  # deprecated by the mail server for itself
]
store = two_sites
BEN = Caller("ben", MANAGER, frozenset({"hall", "north"}))
EMAIL = "ben@example.org"


@dataclass
class MailServer:
    """A mail server that keeps its messages; `refuses` is what it answers to the next recipients."""

    port: int
    got: list[EmailMessage] = field(default_factory=list)
    signed_in: list[bool] = field(default_factory=list)
    refuses: list[str] = field(default_factory=list)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refuses:
            return self.refuses.pop()
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        assert envelope.rcpt_tos == [message["To"]]
        self.signed_in.append(bool(session.authenticated))
        self.got.append(message)
        return "250 OK"


def _checked(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
    assert isinstance(data, LoginPassword)
    return AuthResult(success=(data.login, data.password) == (b"crew", b"secret"))


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = MailServer(port)
    signing_in: dict[str, Any] = {"authenticator": _checked, "auth_require_tls": False, "auth_required": True}
    controller = Controller(server, hostname="127.0.0.1", port=port, **signing_in)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()


@pytest.fixture
def settings(mail: MailServer) -> Settings:
    by = MailSettings("127.0.0.1", "crew@example.org", mail.port, "crew", "secret", "none")
    return Settings(url="http://crew.example.org", notify_hosts=("127.0.0.1",), mail=by)


@pytest.fixture
def hall(store: Store) -> Store:
    site_with_proposals(store, "hall")
    users.add(store, "ben", MANAGER, ["hall", "north"])
    return store


def at(clock: Clock, hour: int, minute: int = 0, days: int = 0) -> None:
    clock.now = clock.now.replace(hour=hour, minute=minute)
    clock.wait(days=days)


def rounds(store: Store, settings: Settings, many: int = 2) -> None:
    for _ in range(many):
        Rounds(store, settings).make()


def code_in(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert body is not None
    match = re.search(r"code=([\w-]+)", body.get_content())
    assert match is not None
    return match[1]


def confirmed(store: Store, settings: Settings, mail: MailServer, **more: Any) -> None:
    choose(store, BEN, DigestChoice(EMAIL, "", "06:30", ("hall", "north"), **more))
    rounds(store, settings)
    digests.confirm(store, code_in(mail.got.pop()))


def text_of(message: EmailMessage, kind: str = "plain") -> str:
    body = message.get_body((kind,))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def test_an_address_is_confirmed_first_and_the_digest_comes_once_a_morning(
    hall: Store, settings: Settings, mail: MailServer, clock: Clock
) -> None:
    assert choice_of(hall, "ben") == DigestChoice()
    at(clock, 5)
    choose(hall, BEN, DigestChoice(EMAIL, "", "06:30", ("hall", "north")))
    at(clock, 7)
    rounds(hall, settings)
    (asking,) = mail.got
    assert "Confirm" in asking["Subject"]
    at(clock, 7, days=1)
    rounds(hall, settings)
    assert mail.got == [asking], "it was not confirmed"
    digests.confirm(hall, code_in(asking))
    assert choice_of(hall, "ben").state == CONFIRMED
    at(clock, 6, 29, days=1)
    rounds(hall, settings)
    assert mail.got == [asking]
    at(clock, 6, 30)
    rounds(hall, settings)
    _, digest = mail.got
    assert digest["Subject"] == "2 sites with something to do, 1 with proposals or overdue offers"
    text, html = text_of(digest), text_of(digest, "html")
    assert "- 2 proposals to answer: http://crew.example.org/sites/hall\n" in text
    assert '<a href="http://crew.example.org/sites/hall">2 proposals to answer</a>' in html
    assert "Person" not in text + html
    assert digest["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail.signed_in == [True, True]
    at(clock, 9)
    rounds(hall, settings)
    assert len(mail.got) == 2
    at(clock, 12, 31, days=1)
    rounds(hall, settings)
    assert len(mail.got) == 2, "no server ran in the morning"


def test_two_servers_and_restarts_send_one_digest(
    hall: Store, other: Store, settings: Settings, mail: MailServer, clock: Clock
) -> None:
    confirmed(hall, settings, mail)
    at(clock, 7, days=1)
    other.clock = clock
    barrier, taken = threading.Barrier(4), []

    def take(store: Store) -> None:
        barrier.wait()
        taken.append(take_due(store, mail=True))

    threads = [threading.Thread(target=take, args=(store,)) for store in (hall, other, hall, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([due for due in taken if due is not None]) == 1
    rounds(hall, settings)
    rounds(other, settings)
    assert mail.got == [], "the server that took it on ended before it sent it"


def test_what_surely_was_not_sent_is_sent_later_and_the_page_says_why(
    hall: Store, settings: Settings, mail: MailServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirmed(hall, settings, mail)
    monkeypatch.setattr(digests, "PAUSE_SECONDS", 0.0)
    mail.refuses += ["451 try later"] * 2
    at(clock, 7, days=1)
    rounds(hall, settings, 1)
    assert len(mail.got) == 1
    assert mail.refuses == []
    assert choice_of(hall, "ben").fault == ""
    monkeypatch.setattr(digests, "PAUSE_SECONDS", 3600.0)
    mail.refuses += ["550 no such user"]
    at(clock, 7, days=1)
    rounds(hall, settings)
    assert len(mail.got) == 1
    assert choice_of(hall, "ben").fault == "mail: the mail server refused it (550 no such user)"


def test_a_day_with_nothing_to_do_and_sites_out_of_sight_have_no_digest(
    hall: Store, settings: Settings, mail: MailServer, clock: Clock
) -> None:
    confirmed(hall, settings, mail)
    users.change(hall, "ben", sites=["south"])
    at(clock, 7, days=1)
    rounds(hall, settings)
    users.change(hall, "ben", sites=["hall"])
    users.disable(hall, "ben")
    at(clock, 7, days=1)
    rounds(hall, settings)
    assert mail.got == []
    users.enable(hall, "ben")
    at(clock, 7, days=1)
    rounds(hall, settings)
    assert mail.got.pop()["Subject"] == "hall: 2 proposals to answer"
    while waiting := proposed(hall, "hall"):
        commands.reject(hall, "hall", waiting[0], ME, "no")
    clock.now = clock.now.replace(year=2023)  # before the site's first day, so that no output is missing
    at(clock, 7)
    with hall.changing() as connection:
        connection.execute(schema.digests.update().values(day=0))
    rounds(hall, settings)
    assert mail.got == []


def test_a_chat_gets_the_text(hall: Store, settings: Settings, clock: Clock) -> None:
    with receiver(lambda number: 500 if number == 0 else 200) as chat:
        address = chat.url.replace("http://", "https://")
        choose(hall, BEN, DigestChoice("", address, "06:30", ("hall",)))
        at(clock, 7, days=1)
        rounds(hall, settings)
        assert chat.got == []  # the receiver speaks no TLS
        assert "no answer" in choice_of(hall, "ben").fault
        choose(hall, BEN, DigestChoice("", chat.url, "06:30", ("hall",)))
        at(clock, 7, days=1)
        rounds(hall, settings)
        assert "answered 500" in choice_of(hall, "ben").fault
        at(clock, 7, days=1)
        rounds(hall, settings)
    (_, sent) = chat.got
    assert sent.document.keys() == {"text"}
    assert sent.document["text"].startswith("hall: http://crew.example.org/sites/hall\n- 2 proposals to answer: http")
    assert choice_of(hall, "ben").fault == ""


def test_a_chat_on_this_machine_is_refused_unless_the_operator_allows_it(hall: Store, clock: Clock) -> None:
    with receiver() as chat:
        choose(hall, BEN, DigestChoice("", chat.url, "06:30", ("hall",)))
        at(clock, 7, days=1)
        rounds(hall, Settings(url="http://crew.example.org"))
    assert chat.got == []
    assert "127.0.0.1 is not a public address" in choice_of(hall, "ben").fault


def test_a_link_in_the_message_stops_it_without_a_sign_in(
    hall: Store, settings: Settings, mail: MailServer, clock: Clock
) -> None:
    confirmed(hall, settings, mail)
    at(clock, 7, days=1)
    rounds(hall, settings)
    link = mail.got.pop()["List-Unsubscribe"].strip("<>")
    path = link.removeprefix("http://crew.example.org")
    with client(hall) as web:
        assert "Stop it" in web.get(path, headers={"Accept": "text/html"}).text
        assert choice_of(hall, "ben").email == EMAIL, "opening it does nothing"
        assert web.post(path, data={"List-Unsubscribe": "One-Click"}).status_code == 200
        assert web.post("/digest/stop?code=x").status_code == 422
        assert web.get("/digest/confirm?code=%00").status_code == 422
    assert choice_of(hall, "ben").email == ""
    at(clock, 7, days=1)
    rounds(hall, settings)
    assert mail.got == []


@pytest.mark.parametrize(
    ("choice", "match"),
    [
        (DigestChoice("ben", "", "06:30", ("hall",)), "must be an address such as ann@example.org"),
        (DigestChoice("a@b.org\r\nBcc: c@d.org", "", "06:30", ("hall",)), "must be an address such as"),
        (DigestChoice(EMAIL, "", "25:00", ("hall",)), "must be a time of day"),
        (DigestChoice(EMAIL, "", "06:30", ()), "must name at least one site"),
        (DigestChoice(EMAIL, "", "06:30", ("south",)), "does not exist, or is not one of yours"),
        (DigestChoice("", "http://example.org/x", "06:30", ("hall",)), "must begin with https://"),
    ],
)
def test_choices_that_are_refused(hall: Store, choice: DigestChoice, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        choose(hall, BEN, choice)
    assert choice_of(hall, "ben") == DigestChoice()


def test_confirmations_are_limited_by_user_and_by_address(hall: Store, clock: Clock) -> None:
    cara = Caller("cara", MANAGER, None)
    users.add(hall, "cara", MANAGER)
    for number in range(MOST_TO_ADDRESS):
        who = (BEN, cara)[number % 2]
        choose(hall, who, DigestChoice("stranger@example.org", "", "06:30", ("hall",)))
        choose(hall, who, DigestChoice("", "", "06:30", ("hall",)))
    with pytest.raises(InvalidInput, match="was asked to confirm 3 times within a day"):
        choose(hall, cara, DigestChoice("Stranger@example.org", "", "06:30", ("hall",)))
    for number in range(MOST_BY_USER - 2):
        choose(hall, BEN, DigestChoice(f"ben{number}@example.org", "", "06:30", ("hall",)))
    for _ in range(2):
        choose(hall, BEN, DigestChoice("ben2@example.org", "", "07:30", ("hall",)))  # no other address
    with pytest.raises(InvalidInput, match="you have changed it 5 times within a day"):
        choose(hall, BEN, DigestChoice("ben9@example.org", "", "06:30", ("hall",)))
    assert choice_of(hall, "ben").email == "ben2@example.org"
    count_failure(hall, "203.0.113.5")
    clock.wait(hours=23)
    count_failure(hall, "203.0.113.5")
    with pytest.raises(InvalidInput, match="within a day"):
        choose(hall, BEN, DigestChoice("ben9@example.org", "", "06:30", ("hall",)))
    clock.wait(hours=2)
    choose(hall, BEN, DigestChoice("ben9@example.org", "", "06:30", ("hall",)))


def test_the_page_and_the_api_make_the_same_choice(hall: Store) -> None:
    token = users.new_token(hall, "ben")[1]
    users.add(hall, "vi", VIEWER)
    with client(hall) as web:
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/html"}
        form = {"email": EMAIL, "chat_url": "", "time": "07:15", "sites": ["hall"]}
        answer = web.post("/notifications", data=form, headers=headers)
        assert (answer.status_code, answer.headers["location"]) == (303, "/notifications")
        wrong = web.post("/notifications", data={**form, "email": "ben"}, headers=headers)
        assert wrong.status_code == 422
        assert "must be an address such as" in wrong.text
        chosen = web.get("/api/v1/me/digest", headers=headers).json()
        assert chosen == {**json.loads(json.dumps(form)), "state": "unconfirmed", "fault": ""}
        shown = web.get("/notifications", headers=headers).text
        assert "is not confirmed yet" in shown
        assert "No mail server is set up here" in shown
        assert 'value="south"' not in shown, "ben does not see it"
