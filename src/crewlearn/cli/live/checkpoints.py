"""`crewlearn ledger key` and `checkpoint`: anchor the record outside the database."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, opened
from crewlearn.cli.output import plain_errors

if TYPE_CHECKING:
    from crewlearn.advisor.ledger.anchors.checkpoints import Anchors
    from crewlearn.web.notices.posting import Outcome

KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        help="The file of the signing key; by default CREWLEARN_SIGNING_KEY, or ~/.config/crewlearn/signing.key.",
    ),
]


def key_command(
    make: Annotated[bool, typer.Option("--make", help="Make the key first; it must not exist yet.")] = False,
    key_file: KeyFileOption = None,
) -> None:
    """Print the public half of the key that signs checkpoints; keep it where checkpoints are checked."""
    with plain_errors():
        from crewlearn.advisor.ledger.anchors.keys import default_key_file, make_key, public_text, read_key

        file = default_key_file() if key_file is None else key_file
        if make:
            text = make_key(file)
            print(f"The key is in {file}. Keep a copy of it safe, and apart from the store.", file=sys.stderr)
        else:
            text = public_text(read_key(file))
    print(text)


def checkpoint_command(
    site: Annotated[list[str] | None, typer.Argument(help="The sites; by default all.")] = None,
    out: Annotated[Path | None, typer.Option(help="Add the checkpoints to this file.")] = None,
    webhook: Annotated[
        str | None, typer.Option(help="Post them to this address: https, or http on this machine.")
    ] = None,
    email: Annotated[
        str | None, typer.Option(help="Send them to this address, by the mail server of CREWLEARN_SMTP_HOST.")
    ] = None,
    key_file: KeyFileOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Sign how far the record of each site goes, for `ledger verify --against`; keep it out of the store's reach."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.anchors import checkpoints
        from crewlearn.advisor.ledger.anchors.keys import default_key_file, read_key

        key = read_key(default_key_file() if key_file is None else key_file)
        earlier = checkpoints.read_checkpoints("out", out) if out is not None and out.is_file() else []
        made, failed = checkpoints.make_checkpoints(store, site or store.names(), key, earlier), list[str]()
        if out is not None:
            checkpoints.append(out, made)
        text = checkpoints.lines_of(made)
        if webhook is not None:
            failed += _untaken(webhook, _posted(webhook, text))
        if email is not None:
            failed += _untaken(email, _mailed(email, text, [checkpoint.site for checkpoint in made]))
    if out is None and webhook is None and email is None:
        sys.stdout.write(text)
    for fault in failed:
        print(f"crewlearn: {fault}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def anchors(site: str, against: Path, public_key: str | None, key_file: Path | None) -> "Anchors":
    """Read the checkpoints that a site is to be verified against; without a public key, our own one is trusted."""
    from crewlearn.advisor.ledger.anchors.checkpoints import Anchors
    from crewlearn.advisor.ledger.anchors.keys import default_key_file, public_text, read_key

    if public_key is None:
        public_key = public_text(read_key(default_key_file() if key_file is None else key_file))
    return Anchors.read(site, "against", against, public_key)


def _untaken(place: str, outcome: "Outcome") -> list[str]:
    return [] if outcome.taken else [f"the checkpoints did not reach {place}: {outcome.words}"]


def _posted(url: str, text: str) -> "Outcome":
    from crewlearn.advisor.ledger.notices.addresses import checked_url
    from crewlearn.web.notices.posting import post

    host = checked_url("webhook", url).host  # whoever may run this may post there
    return post(url, text.encode(), {"Content-Type": "application/jsonl"}, [host])


def _mailed(to: str, text: str, sites: list[str]) -> "Outcome":
    """Send checkpoints as an attachment, which can be saved and checked as it is."""
    from crewlearn.advisor.ledger.text import counted, some_of
    from crewlearn.cli.live.serve import mail_settings
    from crewlearn.problem.errors import InvalidInput
    from crewlearn.web.notices.mail import send_mail

    given = {name: os.environ.get(f"CREWLEARN_{name}", "") for name in ("SMTP_HOST", "SMTP_PORT", "SMTP_USER")}
    port, security = given["SMTP_PORT"], os.environ.get("CREWLEARN_SMTP_SECURITY", "starttls")
    if not port.isdecimal() and port:
        raise InvalidInput("CREWLEARN_SMTP_PORT", port, "must be a number")
    settings = mail_settings(
        given["SMTP_HOST"],
        int(port) if port else None,
        security,
        given["SMTP_USER"],
        os.environ.get("CREWLEARN_MAIL_FROM", ""),
    )
    if settings is None:
        raise InvalidInput("email", to, "needs a mail server; set CREWLEARN_SMTP_HOST and CREWLEARN_MAIL_FROM")
    if "@" not in to or not to.isprintable() or " " in to:
        raise InvalidInput("email", to, "must be an address such as audit@example.org")
    words = f"The attached file has signed checkpoints of {some_of(sites)}.\n"
    words += "Keep it out of reach of the store. To check a site's record by it:\n\n"
    words += "crewlearn ledger verify SITE --against checkpoints.jsonl --public-key KEY\n"
    subject = f"Checkpoints of {counted(len(sites), 'site')}"
    return send_mail(settings, to, subject, words, attached=("checkpoints.jsonl", text))
