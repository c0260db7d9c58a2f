"""`crewlearn serve`: the web pages and the API."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, opened, who

if TYPE_CHECKING:
    from crewlearn.web.settings import MailSettings


def serve_command(
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than this machine's own only once there are users.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any free port.")] = 8000,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A host name under which browsers may reach this server; repeatable.")
    ] = None,
    https: Annotated[
        bool, typer.Option("--https", help="Browsers use HTTPS through a proxy, so cookies are sent over HTTPS only.")
    ] = False,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Trust a proxy on this machine for clients' addresses.")
    ] = False,
    root_path: Annotated[
        str, typer.Option(help="The path under which a proxy offers this server, such as /crew.")
    ] = "",
    notify_host: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CREWLEARN_NOTIFY_HOSTS",
            help="A host, or HOST:PORT, that webhooks and chats may be posted to although it is not public, such as "
            "127.0.0.1; repeatable.",
        ),
    ] = None,
    smtp_host: Annotated[
        str, typer.Option(envvar="CREWLEARN_SMTP_HOST", help="Mail server for digests; without it, none go by e-mail.")
    ] = "",
    smtp_port: Annotated[
        int | None, typer.Option(envvar="CREWLEARN_SMTP_PORT", help="Its port; by default 587, or 465 with tls.")
    ] = None,
    smtp_security: Annotated[
        str,
        typer.Option(envvar="CREWLEARN_SMTP_SECURITY", help="starttls, tls, or none for a server on this machine."),
    ] = "starttls",
    smtp_user: Annotated[
        str,
        typer.Option(envvar="CREWLEARN_SMTP_USER", help="Its user; the password is in CREWLEARN_SMTP_PASSWORD only."),
    ] = "",
    mail_from: Annotated[str, typer.Option(envvar="CREWLEARN_MAIL_FROM", help="The sender of digests.")] = "",
    allow_policy: Annotated[
        list[str] | None,
        typer.Option(
            envvar="CREWLEARN_POLICIES",
            help="A policy beside crewlearn's own that users may choose for their sites: the name of an installed "
            "package's, or module:Class; repeatable.",
        ),
    ] = None,
    log_format: Annotated[
        str, typer.Option(envvar="CREWLEARN_LOG_FORMAT", help="Form of the log on stderr: text, or json for programs.")
    ] = "text",
    sign_on: Annotated[
        list[Path] | None,
        typer.Option(
            envvar="CREWLEARN_SIGN_ON",
            help="A TOML file that describes a provider of single sign-on (OpenID Connect); repeatable.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            envvar="CREWLEARN_WORKERS",
            help="Processes that serve the address together; SIGHUP replaces them one by one, without a pause.",
        ),
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Serve the web pages and the API, to this machine only unless told otherwise."""
    with opened(db, make=True) as store:
        from crewlearn.advisor.ledger.text import some_of
        from crewlearn.policies.registry import allow_policies

        # before the web is imported, whose API describes them
        allow_policies([name for given in allow_policy or () for name in given.replace(",", " ").split()])
        from crewlearn.problem.errors import InvalidInput, whole
        from crewlearn.web import server, supervisor
        from crewlearn.web.app import make_app
        from crewlearn.web.auth import users
        from crewlearn.web.auth.sign_on.file import read_sign_on
        from crewlearn.web.observing.logs import log_to_stderr
        from crewlearn.web.settings import Settings

        whole("port", port, 0, 65_535)
        if workers is not None:
            whole("workers", workers, 1, supervisor.MOST_WORKERS)
        settings = Settings(
            db,
            host,
            port,
            tuple(allowed_host or ()),
            secure_cookies=https,
            behind_proxy=behind_proxy,
            notify_hosts=tuple(notify_host or ()),
            mail=mail_settings(smtp_host, smtp_port, smtp_security, smtp_user, mail_from),
            root_path=root_path,
            log_format=log_format,
            sign_on=tuple(read_sign_on(file) for file in sign_on or ()),
        )
        if not settings.is_loopback and not settings.sign_on and not users.any_users(store):
            remedy = (
                "the server could be reached from other machines, but has no users yet; first run: "
                "crewlearn users add NAME --role admin, then: crewlearn users token NAME"
            )
            raise InvalidInput("host", host, remedy)
        link = supervisor.link_of_worker()
        with server.listen(settings) if link is None else link.taken as taken:
            own, url = server.url_of(taken, settings), server.public_url(taken, settings)
            settings = replace(settings, url=url)

            def announce() -> None:
                """Print the address and how to sign in. From here on, signals stop the server cleanly."""
                say(f"crewlearn is at {own}/ (stop it with Ctrl-C)")
                if url != own:
                    say(f"Users reach it at {url}/, through the proxy.")
                for provider in settings.sign_on:
                    address = f"{url}/sign-on/{provider.name}/callback"
                    say(f"Single sign-on by {provider.issuer}, which must know the redirect address {address}")
                first = users.add_first(store, who(None)) if settings.is_loopback else None
                if first is not None:
                    say(f"Sign in as {first.name} with this link, which works once and for 15 minutes:")
                    say(f"  {url}/sign-in/once?code={users.new_link(store, first.name)}")
                    say(f"Later: {_link(quote(first.name), db, url)}")
                else:
                    known = [user.name for user in users.list_users(store) if not user.disabled]
                    name = quote(known[0]) if len(known) == 1 else "NAME"
                    say(f"Sign in with a token, or get a link from another terminal: {_link(name, db, url)}")
                    if len(known) > 1:
                        say(f"NAME is one of: {some_of([quote(user) for user in known], 8)}")
                if not settings.is_loopback and not https:
                    say("Tokens are sent unencrypted; use a proxy with TLS and --https to protect them.")

            if workers is None or link is not None:
                begun = announce if link is None else link.tell_ready
                server.run(make_app(store, settings), taken, settings, begun)
                return
            log_to_stderr(log_format)
            if not supervisor.Supervisor(taken, workers, sys.argv[1:]).run(announce):
                raise typer.Exit(1)


def mail_settings(host: str, port: int | None, security: str, user: str, sender: str) -> "MailSettings | None":
    """Return the settings of a mail server, or None without a host; refuse what would send a password in the clear."""
    from crewlearn.advisor.ledger.notices.addresses import is_loopback
    from crewlearn.problem.errors import InvalidInput, one_of, whole
    from crewlearn.web.settings import MailSettings

    if not host:
        return None
    one_of("smtp_security", security, ("starttls", "tls", "none"))
    if security == "none" and not is_loopback(host):
        raise InvalidInput("smtp_security", security, "is only for a mail server on this machine; use starttls or tls")
    if "@" not in sender or not sender.isprintable() or " " in sender:
        raise InvalidInput("mail_from", sender, "must be the address that digests come from, such as crew@example.org")
    chosen = whole("smtp_port", (465 if security == "tls" else 587) if port is None else port, 1, 65_535)
    return MailSettings(host, sender, chosen, user, os.environ.get("CREWLEARN_SMTP_PASSWORD", ""), security)


def _link(name: str, db: str, url: str) -> str:
    """Return the command that prints a link to sign in with; a password in the store's address is not repeated."""
    other = f" --db {quote(db)}" if db != DEFAULT_DB and "@" not in db else ""
    return f"crewlearn users link {name}{other} --url {url}"


def say(text: str) -> None:
    """Print a message to the person who started the server."""
    print(text, file=sys.stderr, flush=True)
