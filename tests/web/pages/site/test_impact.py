"""The Impact page, where groups from a file are compared and kept nowhere, and the texts to print."""

import logging
import tempfile
from pathlib import Path

import pytest

from crewlearn.advisor.ledger.store import Store
from crewlearn.web.pages.site.impact import MOST_BYTES
from support.web.pages import DEMO, browser, pages_demo, recorded

demo = pages_demo
PAGE = "/sites/Demo%20hall/impact"
SECRET = "violet-group"


def groups_of(store: Store) -> str:
    """Two groups of the demo's people, by a viewer's own export."""
    lines = browser(store).client.get("/sites/Demo%20hall/record/export/workers").text.splitlines()[1:]
    ids = [line.partition(",")[0] for line in lines]
    return "\n".join(["worker_id,group", *(f"{who},{SECRET if n % 2 else 'green'}" for n, who in enumerate(ids))])


def test_groups_are_compared_and_kept_nowhere(
    demo: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, before = groups_of(demo), recorded(demo, DEMO)
    manager = browser(demo)
    spooled: list[object] = []
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda *_, **__: spooled.append(1))  # what a large upload goes to
    with caplog.at_level(logging.DEBUG):
        page = manager.post(PAGE, {}, files={"file": ("groups.csv", text.encode())})
        pasted = manager.post(PAGE, {"text": text}, files={"other": ("", b"")})
    for shown in (page, pasted):
        assert "Going out: let go" in shown
        assert SECRET in shown
        assert "too small to tell" in shown
        assert "Newcomers are" in shown
    assert SECRET not in caplog.text
    assert recorded(demo, DEMO) == before
    folder = Path(str(demo.engine.url.database)).parent
    assert not [path for path in folder.iterdir() if SECRET.encode() in path.read_bytes()]
    assert not spooled


def test_wrong_files_are_explained(demo: Store) -> None:
    manager = browser(demo)
    for data, words in (
        (b"", "Choose a file"),
        (b"worker_id,size\n1,2\n", "group"),
        (b"worker_id,group\n" + b"1,a\n" * (MOST_BYTES // 4), "more than 1 MB"),
    ):
        page = manager.post(PAGE, {}, 422, files={"file": ("groups.csv", data)})
        assert words in page.partition('role="alert"')[2][:400]
    unknown = manager.post(PAGE, {}, files={"file": ("groups.csv", b"worker_id,group\nnobody,a\n")})
    assert "Unknown here and not counted: 1" in unknown
    assert browser(demo, "viewer").send(PAGE, {}).status_code == 403


def test_the_notice_and_the_card_are_pages_for_everybody(demo: Store) -> None:
    viewer = browser(demo, "viewer")
    notice = viewer.get("/sites/Demo%20hall/notice?contact=%3Cb%3EInes")
    assert "Whom to ask: &lt;b&gt;Ines" in notice
    assert "A person decides" in notice
    viewer.get(f"/sites/Demo%20hall/notice?contact={'x' * 201}", 422)
    assert "floor-quits, followed" in viewer.get("/sites/Demo%20hall/card")
