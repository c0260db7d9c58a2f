"""Reading over the API: paging, exports, and that reading never writes; on both databases."""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from typer.testing import CliRunner

from crewlearn.advisor.ledger.store import Store
from crewlearn.cli.main import app as cli
from support.stores import Database
from support.web.api import Api, caller, everything, finished, rows, stop_jobs, with_crew


def test_lists_are_whole_and_without_doubles_while_facts_are_added(mia: Api, store: Store) -> None:
    here = with_crew(mia)
    for period in range(1, 8):
        mia.post(f"{here}/output", rows(period))
    counted: dict[str, tuple[str, str, dict[str, Any]]] = {
        "events": ("ledger/events", "number", {}),
        "newest": ("ledger/events", "number", {"newest": True}),
        "proposals": ("proposals", "id", {}),
        "workers": ("workers", "worker_id", {"sort": "estimate", "descending": True}),
        "joined": ("workers", "worker_id", {"sort": "joined"}),
    }
    period = 8
    for path, key, query in counted.values():
        before = {item[key] for item in mia.all(f"{here}/{path}", limit=1000, **query)}
        seen = []
        for piece in mia.pages(f"{here}/{path}", limit=2, **query):
            seen += [item[key] for item in piece]
            if period < 30:  # f overtakes everybody, so that the order by estimate changes
                odd = rows(period, units=0.0 if period % 2 else 99.0, workers="acf")
                mia.post(f"{here}/output?accept_unusual=true", odd)
                period += 1
        assert len(seen) == len(set(seen)), path
        assert before <= set(seen), path
    seen = [(item["worker_id"], item["period"]) for piece in with_more(mia, here) for item in piece]
    assert len(seen) == len(set(seen))
    assert {(worker, at) for worker in "ac" for at in range(1, period)} <= set(seen)
    listed = mia.all(f"{here}/output", limit=3, **{"from": "2024-01-02", "to": "2024-01-03"}, worker="a")
    assert [(item["period"], item["worker_id"]) for item in listed] == [(2, "a"), (3, "a")]


def test_events_after_a_known_one_are_what_is_new(mia: Api) -> None:
    here = with_crew(mia)
    for period in range(1, 6):
        mia.post(f"{here}/output", rows(period))
    everybody = mia.all(f"{here}/ledger/events")
    numbers = [event["number"] for event in everybody]
    for known in (0, 1, numbers[-2], numbers[-1], 2**31 - 1):
        new = [number for number in numbers if number > known]
        for limit in (1, 2, 1000):
            assert [event["number"] for event in mia.all(f"{here}/ledger/events", after=known, limit=limit)] == new
            newest = mia.all(f"{here}/ledger/events", after=known, limit=limit, newest=True)
            assert [event["number"] for event in newest] == new[::-1]
    mia.post(f"{here}/output", rows(6))
    assert mia.all(f"{here}/ledger/events", after=numbers[-1])[0]["number"] == numbers[-1] + 1
    cursor = mia.get(f"{here}/ledger/events", params={"after": 1, "limit": 1})["next"]
    for other in ({}, {"after": 2}):
        mia.get(f"{here}/ledger/events", 422, params={"cursor": cursor, **other})
    for wrong in (-1, 2**31, "x"):
        mia.get(f"{here}/ledger/events", 422, params={"after": wrong})


def with_more(api: Api, here: str) -> Iterator[list[Any]]:
    """Return the pages of the output, with a newcomer's rows added meanwhile."""
    api.post(f"{here}/workers", {"workers": [{"worker_id": "new"}]})
    for at, piece in enumerate(api.pages(f"{here}/output", limit=5)):
        yield piece
        if at < 3:
            api.post(
                f"{here}/output?accept_unusual=true", {"rows": [{"period": at + 1, "worker_id": "new", "units": 5}]}
            )


def test_a_cursor_of_another_list_is_refused(mia: Api) -> None:
    here = with_crew(mia)
    cursor = mia.get(f"{here}/workers", params={"limit": 1})["next"]
    for path in ("ledger/events", "proposals", "output", "jobs", "workers?sort=name", "workers?team=true"):
        for wrong in (cursor, "x", "", "eyJ", "AAAA" * 9000, cursor[:-2]):
            problem = mia.get(
                f"{here}/{path}",
                422,
                params={**dict([path.partition("?")[2].split("=")] if "?" in path else []), "cursor": wrong},
            )
            assert problem["errors"][0]["field"] == "cursor"


def test_a_cursor_of_workers_beyond_the_list_is_refused(mia: Api) -> None:
    here = with_crew(mia)
    listing, _ = json.loads(base64.urlsafe_b64decode(mia.get(f"{here}/workers", params={"limit": 1})["next"] + "=="))

    def cursor(bits: bytes) -> str:
        place = base64.urlsafe_b64encode(zlib.compress(bits, 9)).decode()
        return base64.urlsafe_b64encode(json.dumps([listing, place]).encode()).decode().rstrip("=")

    assert mia.get(f"{here}/workers", params={"cursor": cursor(b"\1")})["items"], "the form of a cursor is as before"
    for bits in (b"\0" * 20_000 + b"\1", b"\xff" * 20_000, b"\0\0\1"):
        problem = mia.get(f"{here}/workers", 422, params={"cursor": cursor(bits)})
        assert problem["errors"][0]["field"] == "cursor"


def test_nothing_new_is_said_shortly(mia: Api) -> None:
    here = with_crew(mia)
    proposal = mia.get(f"{here}/advice")["proposals"][0]["id"]
    for path in ("", "/advice", "/status", f"/proposals/{proposal}/explanation"):
        response = mia.send("GET", f"{here}{path}")
        tag = response.headers["etag"]
        for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
            again = mia.send("GET", f"{here}{path}", headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    mia.post(f"{here}/output", rows(1))
    assert mia.send("GET", f"{here}/advice", headers={"If-None-Match": tag}).status_code == 200


def test_exports_are_those_of_the_command_line(mia: Api, database: Database, store: Store) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/workers", {"workers": [{"worker_id": "=1+1", "name": "@SUM(A1)"}]})
    for period in range(1, 4):
        mia.post(f"{here}/output", rows(period))
    for what, kind in (
        ("events", "application/jsonl"),
        ("decisions", "text/csv"),
        ("output", "text/csv"),
        ("workers", "text/csv"),
    ):
        response = mia.send("GET", f"{here}/ledger/export", params={"what": what})
        printed = CliRunner().invoke(cli, ["ledger", "export", "north", "--what", what, "--db", database.url])
        assert printed.exit_code == 0, printed.output
        assert response.text == printed.stdout
        assert response.headers["content-type"].startswith(kind)
        assert "'=1+1" in response.text or what != "workers"
    for command, path in (("advise", "advice"), ("status", "status")):
        printed = CliRunner().invoke(cli, [command, "north", "--json", "--db", database.url])
        assert json.loads(printed.stdout) == mia.get(f"{here}/{path}")


def test_reading_never_writes(client: TestClient, mia: Api, store: Store, database: Database) -> None:
    here = with_crew(mia)
    mia.post(f"{here}/output", rows(1))
    finished(mia, mia.post(f"{here}/ledger/verification", None, 202))
    ann = caller(client, "ann", "admin")
    paths = readable(ann, here)
    stop_jobs(client)
    before, file_before = everything(store), file_of(database)
    for path in paths:
        for _ in range(2):
            status = 404 if path.endswith("/pilot") else 200  # there is none
            assert ann.send("GET", path).status_code == status, path
    assert everything(store) == before
    assert file_of(database) == file_before


def readable(api: Api, here: str) -> list[str]:
    """Every GET path of the document, with real names."""
    proposal = api.get(f"{here}/proposals")["items"][0]["id"]
    job = api.get(f"{here}/jobs")["items"][0]["id"]
    webhook = api.post(f"{here}/webhooks", {"url": "https://example.org/hook"}, 201)["id"]
    names = {"site": "north", "proposal": proposal, "worker_id": "a", "job": job, "name": "ann", "webhook": webhook}
    paths = [path.removeprefix("/api/v1") for path, item in api.contract.document["paths"].items() if "get" in item]
    assert len(paths) >= 15
    return [path.format(**names) for path in paths]


def file_of(database: Database) -> bytes:
    """The bytes of an SQLite file and its write-ahead log; empty for PostgreSQL."""
    if database.backend != "sqlite":
        return b""
    path = Path(database.url.removeprefix("sqlite:///"))
    log = path.with_name(f"{path.name}-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")
