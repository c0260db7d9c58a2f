"""Webhooks with real receivers on loopback: order, signatures, retries, two servers, and servers killed at random."""

import hashlib
import hmac
import random
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.message import Message
from typing import Any

import pytest

from crewlearn.advisor.advice import commands
from crewlearn.advisor.files import output_imports
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.notices.addresses import address_fault, checked_url
from crewlearn.advisor.ledger.store import Store
from crewlearn.advisor.ledger.transaction import SiteTransaction
from crewlearn.problem.errors import InvalidInput
from crewlearn.web.notices import deliveries, posting
from crewlearn.web.notices.deliverer import Deliverer
from crewlearn.web.notices.posting import post
from support.stores import ME, Database, day, proposed, site_with_proposals
from support.waiting import until
from support.web.app import two_sites
from support.web.receiving import HERE, Delivering, cause, raw_receiver, receiver, statuses

store = two_sites

QUICK: dict[str, Any] = {"poll_seconds": 0.02, "lost_seconds": 1.0, "post_seconds": 0.5}
NAMES = ("Person", ME)


def genuine(secret: str, headers: Message, body: bytes) -> bool:
    """Check a delivery as docs/how-to/operate/webhooks.md says."""
    stamp = headers["Crewlearn-Timestamp"]
    wanted = "v1=" + hmac.new(secret.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    fresh = abs(time.time() - int(stamp)) < 300
    return fresh and any(
        hmac.compare_digest(wanted, sent.strip()) for sent in headers["Crewlearn-Signature"].split(",")
    )


@contextmanager
def delivering(*stores: Store) -> Iterator[None]:
    """Servers that deliver, one for each store."""
    servers = [Deliverer(store, HERE, **QUICK) for store in stores]
    for server in servers:
        server.start()
    try:
        yield
    finally:
        for server in servers:
            server.stop()


def all_sent(store: Store, many: int) -> bool:
    return statuses(store) == ["delivered"] * many


def interrupted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record a day in a transaction that ends when all is written and nothing committed, as when the process dies."""
    finish = SiteTransaction.finish

    def finish_and_die(work: SiteTransaction) -> None:
        finish(work)
        raise RuntimeError("the process dies here")

    with monkeypatch.context() as patched:
        patched.setattr(SiteTransaction, "finish", finish_and_die)
        with pytest.raises(RuntimeError):
            output_imports.import_output(store, "hall", day(2), b"", ME)


def test_what_happens_at_a_site_is_told_in_order_and_signed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    site_with_proposals(store, "hall")
    with receiver() as here:
        _, secret = webhooks.add(store, "hall", here.url, ME)
        webhooks.add(store, "north", here.url, ME)
        output_imports.import_output(store, "hall", day(1), b"", ME)
        interrupted(store, monkeypatch)
        output_imports.import_output(store, "hall", day(2), b"", ME)
        webhooks.send_test(store, "hall", 1)
        with delivering(store):
            until(lambda: all_sent(store, 3))
    first, second, last = [received.document for received in here.got]
    assert (first["kind"], first["facts"]["period"], first["facts"]["date"]) == ("advice.new", 2, "2024-01-02")
    assert (second["facts"]["period"], last["kind"], last["facts"]) == (3, "test", {})
    pairs = {(pair["id"], pair["out"], pair["in"]) for pair in second["facts"]["proposals"]}
    with store.reading() as connection:
        site = store.site(connection, "hall")[1]
    ids = "abcdef"
    assert pairs == {
        (number, ids[site.proposals[number].out], ids[site.proposals[number].into])
        for number in proposed(store, "hall")
    }
    assert pairs
    assert first["number"] < second["number"] < last["number"]
    for received in here.got:
        assert genuine(secret, received.headers, received.body)
        assert not genuine(secret, received.headers, received.body + b" ")
        assert not genuine(secret + "x", received.headers, received.body)
        assert received.headers["Crewlearn-Delivery"] == received.document["delivery"]
        assert not any(name in received.body.decode() for name in NAMES)


def test_an_erased_person_is_in_no_later_delivery(store: Store) -> None:
    site_with_proposals(store, "hall")
    with receiver() as here:
        webhooks.add(store, "hall", here.url, ME)
        output_imports.import_output(store, "hall", day(1), b"", ME)
        for worker in "abcdef":
            commands.erase_worker(store, "hall", worker, ME)
        with delivering(store):
            until(lambda: set(statuses(store)) == {"delivered"})
    for received in here.got:
        assert all(pair["out"] is None and pair["in"] is None for pair in received.document["facts"]["proposals"])


def test_both_secrets_sign_for_a_while_after_a_rotation(store: Store) -> None:
    with receiver() as here:
        hook, old = webhooks.add(store, "north", here.url, ME)
        new = webhooks.rotate(store, "north", hook.id)
        assert webhooks.get(store, "north", hook.id).both_until is not None
        cause(store, "north", 1)
        with delivering(store):
            until(lambda: all_sent(store, 1))
            newest = webhooks.rotate(store, "north", hook.id, hours=0)
            cause(store, "north", 2)
            until(lambda: all_sent(store, 2))
    valid = [[genuine(secret, got.headers, got.body) for secret in (old, new, newest)] for got in here.got]
    assert valid == [[True, True, False], [False, False, True]]


def test_a_failed_attempt_is_made_again_and_nothing_overtakes_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "FIRST_PAUSE", 0.01)
    with receiver(lambda number: 503 if number in (1, 2, 3) else 302 if number == 4 else 204) as here:
        webhooks.add(store, "north", here.url, ME)
        for number in range(4):
            cause(store, "north", number)
        with delivering(store):
            until(lambda: all_sent(store, 4))
    assert [got.document["facts"]["n"] for got in here.got] == [0, 1, 1, 1, 1, 1, 2, 3]
    assert set(here.paths) == {"/hook"}  # the redirect was not followed
    assert [sent.attempts for sent in deliveries.list_deliveries(store, "north", 1)] == [1, 1, 5, 1]


def test_a_dead_receiver_is_given_up_and_can_be_sent_to_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(deliveries, "MOST_WAITING", 3)
    with receiver() as here:
        here.stop()
        webhooks.add(store, "north", here.url, ME)
        for number in range(5):
            cause(store, "north", number)
        with delivering(store):
            until(lambda: statuses(store) == ["failed", "failed", "waiting", "waiting", "waiting"])
            assert "refused" in webhooks.list_webhooks(store, "north")[0].fault
            monkeypatch.setattr(deliveries, "GIVE_UP_AFTER", 0.0)
            until(lambda: statuses(store) == ["failed"] * 5)
            monkeypatch.setattr(deliveries, "GIVE_UP_AFTER", 3600.0)
            here.start()
            newest = deliveries.list_deliveries(store, "north", 1)[0]
            assert newest.outcome
            deliveries.send_again(store, "north", 1, newest.id)
            until(lambda: statuses(store)[-1] == "delivered")
        assert [got.document["facts"]["n"] for got in here.got] == [4]
        monkeypatch.setattr(deliveries, "MOST_KEPT", 2)
        deliveries.prune(store)
        assert statuses(store) == ["failed", "delivered"]
        monkeypatch.setattr(deliveries, "KEEP_FAILED", 0.0)
        deliveries.prune(store)
        assert statuses(store) == ["delivered"]


def test_two_servers_deliver_each_notice_once_and_in_order(store: Store, other: Store) -> None:
    with receiver() as here:
        for site in ("north", "south"):
            webhooks.add(store, site, here.url, ME)
        with delivering(store, other):
            for number in range(15):
                cause(store, "north" if number % 2 else "south", number)
            until(lambda: all_sent(store, 15))
    assert len(here.got) == 15
    for site, wanted in (("north", range(1, 15, 2)), ("south", range(0, 15, 2))):
        got = [received.document for received in here.got]
        assert [sent["facts"]["n"] for sent in got if sent["site"] == site] == list(wanted)


def test_killed_servers_and_receivers_lose_nothing_and_keep_the_order(database: Database) -> None:
    """Some 30 deliveries; bench/soak/webhooks.py makes a thousand."""
    rng, many, sites = random.Random(5), 15, ("north", "south")
    with ExitStack() as ending, receiver() as here, database.open() as store:
        secrets = {}
        for site in sites:
            site_with_proposals(store, site)
            secrets[site] = webhooks.add(store, site, here.url, ME, ["import.failed"])[1]
        server = Delivering(database.url, 0.6)
        ending.callback(server.kill)
        for number in range(many):
            if number % 5 == 0:
                server.kill()
                server.start()
            if number % 5 == 3:
                here.stop()
            for site in sites:
                cause(store, site, number)
            time.sleep(rng.uniform(0.0, 0.06))
            if number % 5 == 4:
                here.start()
        with store.changing() as connection:  # do not wait for the pauses after failures
            connection.execute(schema.webhooks.update().values(next_try=0.0))
        until(lambda: all_sent(store, many * len(sites)))
    for site in sites:
        assert [sent["facts"]["n"] for sent in here.first_of_each if sent["site"] == site] == list(range(many))
    assert all(genuine(secrets[got.document["site"]], got.headers, got.body) for got in here.got)


# --- where notices may go


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("ftp://example.org/x", "must be an address such as"),
        ("http://example.org/x", "must begin with https://"),
        ("https://", "must be an address such as"),
        ("https://user:pw@example.org/", "no user, password"),
        ("https://example.org/x#y", "no user, password or fragment"),
        ("https://exa mple.org/", "must be an address such as"),
        ("https://example.org:99999/", "must be an address such as"),
        ("https://example.org/\r\nHost: x", "must be an address such as"),
        ("https://[fe80::1%25eth0]/", "must be an address such as"),
    ],
)
def test_addresses_that_are_refused_at_once(store: Store, url: str, match: str) -> None:
    with pytest.raises(InvalidInput, match=match):
        webhooks.add(store, "north", url, ME)
    assert webhooks.list_webhooks(store, "north") == []


ALLOWED = ("hall.internal.", "127.0.0.2", "127.0.0.3:9000", "[::1]:9000")


@pytest.mark.parametrize(
    ("host", "resolved", "fine"),
    [
        ("example.org", ["93.184.215.14"], True),
        ("example.org", ["93.184.215.14", "10.1.2.3"], False),
        ("example.org", ["127.0.0.1"], False),
        ("example.org", ["169.254.169.254"], False),
        ("example.org", ["100.64.0.1"], False),
        ("example.org", ["::ffff:192.168.0.1"], False),
        ("example.org", ["64:ff9b::a00:1"], False),
        ("example.org", ["fd00::1"], False),
        ("example.org", ["224.0.0.1"], False),
        ("example.org", ["0.0.0.0"], False),
        ("127.0.0.1", ["127.0.0.1"], False),
        ("localhost", ["::1"], False),
        ("localhost", ["10.0.0.1"], False),
        ("127.0.0.2", ["127.0.0.2"], True),
        ("127.0.0.3", ["127.0.0.3"], False),
        ("127.0.0.3:9000", ["127.0.0.3"], True),
        ("[::1]:9000", ["::1"], True),
        ("[::1]:9001", ["::1"], False),
        ("Hall.Internal", ["10.0.0.1"], True),
    ],
)
def test_names_are_checked_once_they_are_resolved(host: str, resolved: list[str], fine: bool) -> None:
    fault = address_fault(checked_url("url", f"https://{host}/x"), resolved, ALLOWED)
    assert (fault is None) == fine
    assert fine or "--notify-host" in str(fault)


def test_no_port_of_this_machine_is_tried_unless_the_operator_allows_it() -> None:
    reached: list[int] = []
    with raw_receiver(lambda connection: reached.append(1)) as url:
        for named in (url, url.replace("127.0.0.1", "localhost"), url.replace("127.0.0.1", "127.0.0.2")):
            outcome = post(named, b"{}", {}, ["127.0.0.1:1"])
            assert not outcome.taken
            assert "is not a public address" in outcome.words, "whether anybody listens there is not told"
    assert reached == []


def test_exactly_the_address_that_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that resolves to a public address when it is checked and to this machine afterwards leads nowhere."""
    answers = iter(["127.0.0.2", "10.0.0.1"])
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 443))]
    )
    outcome = post("https://rebinding.example/x", b"", {})
    assert not outcome.taken
    assert "not a public address" in outcome.words
    assert next(answers) == "10.0.0.1", "resolved once"


def test_a_receiver_that_drips_is_cut_off_and_one_that_floods_is_not_read() -> None:
    def drip(connection: socket.socket) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10_000:
            connection.sendall(bytes([letter]))
            time.sleep(0.05)

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            sent.append(connection.send(b"x" * 65_536))

    sent: list[int] = []
    with raw_receiver(drip) as url:
        assert post(url, b"{}", {}, HERE, seconds=0.5) == posting.Outcome(False, "no answer within 0.5 s", unclear=True)
    with raw_receiver(flood) as url:
        assert post(url, b"{}", {}, HERE, seconds=5.0).taken
    until(lambda: True)
    assert sum(sent) < 20_000_000
    assert post("https://nowhere.invalid/", b"{}", {}).words.startswith("the name cannot be resolved")
