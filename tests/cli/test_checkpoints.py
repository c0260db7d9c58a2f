"""The commands that anchor a record: the key, a file, a webhook and a message by e-mail, as an operator uses them."""

import json
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message
from typer.testing import CliRunner

from crewlearn.cli.main import app
from support.web.receiving import receiver

RUNNER = CliRunner()
SETTINGS = "--team 1 --cost 5 --horizon 50 --mean-delay 2 --output-range 0:100 --policy keep-team --start 2026-01-05"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CREWLEARN_DB", f"sqlite:///{tmp_path}/crewlearn.db")
    monkeypatch.setenv("CREWLEARN_SIGNING_KEY", str(tmp_path / "keys" / "signing.key"))
    run("site", "create", "north", *SETTINGS.split())
    return tmp_path


def run(*arguments: str, code: int = 0) -> Any:
    outcome = RUNNER.invoke(app, list(arguments))
    assert outcome.exit_code == code, (arguments, outcome.output, outcome.exception)
    return outcome


def test_a_key_is_made_once_for_its_owner_alone(folder: Path) -> None:
    assert "make one, once: crewlearn ledger key --make" in run("ledger", "key", code=2).stderr
    made = run("ledger", "key", "--make").stdout
    file = folder / "keys" / "signing.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert run("ledger", "key").stdout == made
    assert "exists already; keep it" in run("ledger", "key", "--make", code=2).stderr
    assert "PRIVATE" not in made
    file.chmod(0o640)
    assert f"can be read by others (mode 0640); run: chmod 600 {file}" in run("ledger", "checkpoint", code=2).stderr
    file.chmod(0o600)
    file.write_text("-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n")
    assert "is not an Ed25519 key" in run("ledger", "checkpoint", code=2).stderr


def test_a_file_of_checkpoints_finds_a_lost_end(folder: Path) -> None:
    public = run("ledger", "key", "--make").stdout.strip()
    out = str(folder / "checkpoints.jsonl")
    run("store", "backup", str(folder / "yesterday.db"))
    run("site", "set", "north", "cost=6")
    run("ledger", "checkpoint", "--out", out)
    run("ledger", "checkpoint", "north", "--out", out)
    verify = ("ledger", "verify", "north", "--against", out)
    assert "Compared with 2 signed checkpoints.\nThe record is sound." in run(*verify).stdout
    (folder / "keys" / "signing.key").unlink()
    assert "there is no signing key here" in run(*verify, code=2).stderr
    checked = run(*verify, "--public-key", public, "--json").stdout
    assert (json.loads(checked)["sound"], json.loads(checked)["checkpoints"]) == (True, 2)
    assert "must be a public key" in run(*verify, "--public-key", "ed25519:AAAA", code=2).stderr
    run("store", "restore", str(folder / "yesterday.db"))
    assert "sound" in run("ledger", "verify", "north").stdout
    text = run(*verify, "--public-key", public, code=1).stdout
    assert "DAMAGED: the record ends at event 1: events were removed since the checkpoint of" in text
    assert json.loads(run(*verify, "--public-key", public, "--json", code=1).stdout)["sound"] is False


def test_checkpoints_go_to_a_webhook_and_by_mail_as_they_are_printed(folder: Path, monkeypatch: Any) -> None:
    run("ledger", "key", "--make")
    printed = json.loads(run("ledger", "checkpoint").stdout)
    with receiver() as here:
        address = f"http://127.0.0.1:{here.port}/anchors"
        run("ledger", "checkpoint", "--webhook", address)
        posted = json.loads(here.got[0].body)
        here.answers = lambda number: 500
        failed = run("ledger", "checkpoint", "--webhook", address, code=1)
    assert f"did not reach {address}: answered 500" in failed.stderr
    assert posted == {**printed, "at": posted["at"], "signature": posted["signature"]}
    assert "must begin with https://" in run("ledger", "checkpoint", "--webhook", "http://a.example/", code=2).stderr
    assert "needs a mail server" in run("ledger", "checkpoint", "--email", "audit@example.org", code=2).stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in {"SMTP_HOST": "127.0.0.1", "SMTP_PORT": str(port), "SMTP_SECURITY": "none"}.items():
        monkeypatch.setenv(f"CREWLEARN_{name}", value)
    monkeypatch.setenv("CREWLEARN_MAIL_FROM", "crew@example.org")
    assert (
        "did not reach audit@example.org" in run("ledger", "checkpoint", "--email", "audit@example.org", code=1).stderr
    )
    messages: list[Any] = []
    controller = Controller(_Keeping(messages), hostname="127.0.0.1", port=port)
    controller.start()
    try:
        run("ledger", "checkpoint", "north", "--email", "audit@example.org")
    finally:
        controller.stop()
    (attached,) = [part for part in messages[0].walk() if part.get_filename() == "checkpoints.jsonl"]
    saved = folder / "saved.jsonl"
    saved.write_bytes(attached.get_payload(decode=True))
    assert "Compared with 1 signed checkpoint." in run("ledger", "verify", "north", "--against", str(saved)).stdout


class _Keeping(Message):
    """Keeps the messages that come in."""

    def __init__(self, messages: list[Any]) -> None:
        super().__init__()
        self.messages = messages

    def handle_message(self, message: Any) -> None:
        self.messages.append(message)


def test_a_file_that_cannot_be_written_is_named(folder: Path) -> None:
    run("ledger", "key", "--make")
    assert "out = '/dev/full': cannot be written" in run("ledger", "checkpoint", "--out", "/dev/full", code=2).stderr
    assert "cannot be written" in run("ledger", "checkpoint", "--out", str(folder), code=2).stderr
    assert "nowhere" in run("ledger", "checkpoint", "nowhere", code=2).stderr
