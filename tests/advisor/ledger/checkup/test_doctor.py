"""`crewlearn doctor`: everything that it looks for, made wrong on purpose."""

import importlib.metadata
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from crewlearn.advisor.ledger.checkup.run import CHECKS
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.db.backup import back_up
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.store import Store
from crewlearn.cli.main import app
from crewlearn.web.auth import users
from crewlearn.web.jobs import queue
from support.stores import ME, Database, config

HOOK = "https://hooks.example.org/secret-path"


class Outcome(NamedTuple):
    code: int
    document: dict[str, Any]

    def of(self, check: str) -> list[tuple[str, str, str]]:
        """Return what a check found: status, detail and remedy."""
        keys = ("status", "detail", "remedy")
        return [tuple(found[key] for key in keys) for found in self.document["findings"] if found["check"] == check]

    def told(self, check: str, status: str) -> str:
        """Return detail and remedy of what a check found, if all of it has that status."""
        found = self.of(check)
        assert {given for given, _, _ in found} == {status}, found
        return "; ".join(f"{detail} -> {remedy}" for _, detail, remedy in found)


def doctor(url: str, *options: str) -> Outcome:
    done = CliRunner().invoke(app, ["doctor", "--db", url, "--json", *options])
    assert done.exit_code in (0, 1), done.output
    return Outcome(done.exit_code, json.loads(done.stdout))


def change(store: Store, *statements: sa.Executable) -> None:
    with store.changing() as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def healthy(database: Database, tmp_path: Path) -> Database:
    """A store with a site and an admin, and (on SQLite) a backup."""
    with database.open() as store:
        from crewlearn.advisor.advice import commands

        commands.create_site(store, "north", config(), ME)
        users.add(store, "ines", "admin")
        if database.backend == "sqlite":
            (tmp_path / "backups").mkdir()
            back_up(store.engine, tmp_path / "backups" / "monday.db")
    return database


def test_a_healthy_store_is_told_so_check_by_check(healthy: Database) -> None:
    outcome = doctor(healthy.url)
    assert (outcome.code, outcome.document["healthy"], outcome.document["status"]) == (0, True, "warning")
    assert tuple(dict.fromkeys(found["check"] for found in outcome.document["findings"])) == CHECKS
    for check in ("versions", "store", "clock", "disk", "webhooks", "jobs", "users"):
        outcome.told(check, "ok")
    assert "no folder of backups was named" in outcome.told("backups", "warning")
    assert doctor(healthy.url, "--strict").code == 1
    text = CliRunner().invoke(app, ["doctor", "--db", healthy.url])
    assert text.exit_code == 0
    assert "\nok    store " in text.stdout
    assert "\nWARN  backups " in text.stdout
    if healthy.backend == "sqlite":
        outcome.told("permissions", "ok")


def test_what_waits_and_the_people_are_looked_at(healthy: Database) -> None:
    now = time.time()
    with healthy.open() as store:
        hook = webhooks.add(store, "north", HOOK, ME)[0].id
        job = queue.submit(store, "north", "verify", ME, {}).id
        users.new_token(store, "ines", 5.0)
        change(
            store,
            schema.webhooks.update().where(schema.webhooks.c.id == hook).values(failures=7),
            schema.jobs.update().where(schema.jobs.c.id == job).values(created=now - 7200),
            schema.tokens.update().values(expires=now + 5 * 86_400),
        )
    found = doctor(healthy.url)
    told = found.told("webhooks", "warning")
    assert f"webhook {hook} of north (hooks.example.org) failed 7 times in a row" in told
    assert f"crewlearn webhook test north {hook}" in told
    assert "secret-path" not in str(found.document)
    assert "1 job queued, the oldest for 2 hours" in found.told("jobs", "warning")
    assert "tokens end soon: ines on 20" in found.told("users", "warning")
    with healthy.open() as store:
        change(
            store,
            schema.jobs.update().values(status="running", owner="gone", heartbeat=now - 600),
            schema.users.update().values(disabled=True),
        )
    found = doctor(healthy.url)
    assert "1 job whose server is gone" in found.told("jobs", "warning")
    assert "nobody may manage users" in found.told("users", "warning")


def test_a_record_from_the_future_is_a_failure(healthy: Database) -> None:
    with healthy.open() as store:
        change(store, schema.events.update().values(at="2046-01-01T00:00:00+00:00"))
    found = doctor(healthy.url)
    assert found.code == 1
    assert "the newest event of north is" in found.told("clock", "failure")
    assert "timedatectl" in found.told("clock", "failure")


def test_another_schema_is_a_failure_with_its_command(healthy: Database) -> None:
    for version, remedy in (("0001", "crewlearn store upgrade"), ("9999", "update crewlearn")):
        with healthy.open() as store:
            change(store, sa.text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '{version}'"))
            try:
                found = doctor(healthy.url)
            finally:
                change(store, sa.text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '{schema.SCHEMA}'"))
        assert remedy in found.told("store", "failure")
        assert not found.of("jobs"), "what cannot be read is not judged"


def test_stores_that_are_not_there_or_not_ours(tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    assert "there is no store" in doctor(f"sqlite:///{missing}").told("store", "failure")
    assert not missing.exists(), "looking makes no store"
    assert "there is no folder" in doctor(f"sqlite:///{tmp_path}/no/site.db").told("disk", "failure")
    (tmp_path / "letter.db").write_text("Dear all, " * 1000)
    assert "not a database" in doctor(f"sqlite:///{tmp_path}/letter.db").told("store", "failure")
    nobody = doctor("postgresql://nobody:secret@127.0.0.1:1/none")
    assert "see that the database runs" in nobody.told("store", "failure")
    assert "secret" not in str(nobody.document)
    wrong = CliRunner().invoke(app, ["doctor", "--db", "mysql://x/y"])
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert CliRunner().invoke(app, ["doctor", "--backup-hours", "nan"]).exit_code == 2


class TestFiles:
    """What is looked at in the files of a SQLite store and its backups."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        from crewlearn.advisor.advice.opening import open_store

        file = tmp_path / "site.db"
        with open_store(f"sqlite:///{file}", make=True) as store:
            users.add(store, "ines", "admin")
            (tmp_path / "backups").mkdir()
            back_up(store.engine, tmp_path / "backups" / "monday.db")
        return file

    @pytest.fixture
    def look(self, file: Path) -> Callable[..., Outcome]:
        return lambda *options: doctor(f"sqlite:///{file}", "--backups", str(file.parent / "backups"), *options)

    def test_modes(self, file: Path, look: Callable[..., Outcome]) -> None:
        file.chmod(0o644)
        (file.parent / "backups" / "monday.db").chmod(0o640)
        assert f"chmod 600 {file}" in look().told("permissions", "warning")
        assert "chmod 600 " in look().told("backups", "warning")

    def test_journal(self, file: Path, look: Callable[..., Outcome]) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
        connection.close()
        assert "journal mode is delete" in look().told("store", "warning")

    def test_damage(self, file: Path, look: Callable[..., Outcome]) -> None:
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'jobs_by_status'").fetchone()[0]
            size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.close()
        with file.open("r+b") as opened:
            opened.seek((root - 1) * size)
            opened.write(b"\xff" * size)
        found = look()
        assert found.code == 1
        assert "restore the last sound backup" in found.told("store", "failure")

    def test_full_disk(self, look: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
        class Usage(NamedTuple):
            free: int

        monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(50_000_000))
        assert {status for status, _, _ in look().of("disk")} == {"failure", "warning"}

    def test_old_versions(self, look: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importlib.metadata, "requires", lambda name: ["sqlalchemy>=99.1; extra == 'x'"])
        found = look()
        assert found.code == 1
        assert "too old: sqlalchemy 2" in found.of("versions")[0][1]

    def test_backups(self, file: Path, look: Callable[..., Outcome]) -> None:
        folder = file.parent / "backups"
        monday = folder / "monday.db"
        assert "is on the disk of the store" in look().told("backups", "warning")
        assert look().code == 0
        os.utime(monday, (time.time() - 3 * 86_400,) * 2)
        assert look().code == 1
        assert "is 3 days old" in str(look().of("backups"))
        assert look("--backup-hours", "100").code == 0
        for content, words in (
            (b"a letter", "neither a SQLite database nor a dump"),
            (monday.read_bytes()[:5000], "could not be restored"),
        ):
            (folder / "tuesday").write_bytes(content)
            assert words in str(look().of("backups"))
            assert look().code == 1
        (folder / "tuesday").write_bytes(b"PGDMP rest")
        assert "could not be restored" not in str(look().of("backups"))
        for left in folder.iterdir():
            left.unlink()
        assert "there is no backup" in look().told("backups", "failure")
        folder.rmdir()
        assert "there is no folder" in look().told("backups", "failure")
