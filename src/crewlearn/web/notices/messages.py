"""The digest as a message: what waits for an answer at each site, with links, in plain text and simple HTML.

It counts and links, and names nobody: mail and chat leave the firm's own machines.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from crewlearn.advisor.ledger.store import Store
from crewlearn.language import plural
from crewlearn.web.auth.access import MANAGER, Caller
from crewlearn.web.rendering import environment
from crewlearn.web.snapshots import Unreadable, each, snapshot
from crewlearn.web.views.reading import Reading
from crewlearn.web.views.today import Task, waiting


@dataclass(frozen=True)
class Message:
    """A message in the forms that it is sent in."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True)
class SiteTasks:
    """A site with what waits there."""

    name: str
    url: str
    tasks: tuple[Task, ...]


class Addressed(Protocol):
    """To whom a message goes, about which sites; the code is in its links."""

    @property
    def caller(self) -> Caller:
        """The user."""

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites."""

    @property
    def code(self) -> str:
        """The code of the links that need no sign-in."""


def stop_url(base: str, code: str) -> str:
    """Return the link that stops a digest."""
    return f"{base}/digest/stop?code={quote(code)}"


def asking(base: str, to: Addressed) -> Message:
    """Return the message that asks to confirm an address."""
    link = f"{base}/digest/confirm?code={quote(to.code)}"
    subject = "Confirm your address for the crewlearn digest"
    told = f"{to.caller.name} asked for a daily digest to this address. It is sent only once you confirm:"
    text = f"{told}\n\n{link}\n\nNot you? Then ignore this message, and nothing else is sent.\n"
    return Message(subject, text, _html("notices/digest_asking.html", told=told, link=link))


def digest_of(store: Store, base: str, to: Addressed) -> Message | None:
    """Return a user's digest, or None if nothing waits for an answer."""

    def tasks_at(name: str) -> SiteTasks:
        current = snapshot(store, name)
        reading = Reading(current, current.site.config.day_of(store.clock()))
        tasks = waiting(reading, to.caller.may(MANAGER, name))
        linked = tuple(Task(task.text, base + task.url, task.urgent) for task in tasks)
        return SiteTasks(name, base + reading.url(), linked)

    read = [site for site in each(to.sites, tasks_at) if not isinstance(site, Unreadable)]
    listed = sorted((site for site in read if site.tasks), key=lambda site: not _is_urgent(site))
    if not listed:
        return None
    urgent = sum(map(_is_urgent, listed))
    where = listed[0].name if len(listed) == 1 else plural("{n} site", "{n} sites", len(listed))
    subject = f"{where}: {listed[0].tasks[0].text}" if len(listed) == 1 else f"{where} with something to do"
    if len(listed) > 1 and urgent:
        subject = f"{where} with something to do, {urgent:,} with proposals or overdue offers"
    stop = stop_url(base, to.code)
    text = "\n".join(
        [*_text_lines(listed), "", f"To change or stop this digest: {base}/notifications", f"Stop it: {stop}"]
    )
    html = _html("notices/digest.html", sites=listed, base=base, stop=stop)
    return Message(subject, text + "\n", html)


def _is_urgent(site: SiteTasks) -> bool:
    return any(task.urgent for task in site.tasks)


def _text_lines(sites: Iterable[SiteTasks]) -> Iterable[str]:
    for number, site in enumerate(sites):
        if number:
            yield ""
        yield f"{site.name}: {site.url}"
        yield from (f"- {task.text}: {task.url}" for task in site.tasks)


def _html(name: str, **values: object) -> str:
    return environment().get_template(name).render(values)
