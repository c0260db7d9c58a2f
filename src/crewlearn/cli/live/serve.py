"""`crewlearn serve`: the web pages and the API."""

import sys
from typing import Annotated

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, opened, who


def serve_command(
    host: Annotated[str, typer.Option(help="Address to listen at; others than this machine's own take users.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen at; 0: any that is free.")] = 8000,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A name that browsers may call this server by; repeat.")
    ] = None,
    https: Annotated[
        bool, typer.Option("--https", help="Browsers come by HTTPS, through a proxy: cookies are kept to it.")
    ] = False,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Take callers' addresses from a proxy on this machine.")
    ] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Serve the web pages and the API, to this machine only unless told otherwise."""
    with opened(db, make=True) as store:
        from crewlearn.problem.errors import InvalidInput, whole
        from crewlearn.web import server
        from crewlearn.web.app import make_app
        from crewlearn.web.auth import users
        from crewlearn.web.settings import Settings

        whole("port", port, 0, 65_535)
        settings = Settings(db, host, port, tuple(allowed_host or ()), secure_cookies=https, behind_proxy=behind_proxy)
        if not settings.is_loopback and not users.any_users(store):
            remedy = (
                "others could reach this server, and nobody is known to it yet; first run: "
                "crewlearn users add NAME --role admin, then: crewlearn users token NAME"
            )
            raise InvalidInput("host", host, remedy)
        with server.listen(settings) as taken:
            own, url = server.url_of(taken, settings), server.public_url(taken, settings)

            def announce() -> None:
                """Print the address and how to sign in. Signals end the server cleanly from here on."""
                say(f"crewlearn is at {own}/ (end it with Ctrl-C)")
                if url != own:
                    say(f"People come in at {url}/, through the proxy.")
                first = users.add_first(store, who(None)) if settings.is_loopback else None
                if first is not None:
                    say(f"Sign in as {first.name}, once and within 15 minutes, at:")
                    say(f"  {url}/sign-in/once?code={users.new_link(store, first.name)}")
                    say(f"Later: crewlearn users link {first.name!r} --url {url}")
                else:
                    say(f"Sign in with a token, or get a link: crewlearn users link NAME --url {url}")
                if not settings.is_loopback and not https:
                    say("Tokens travel readable by others on the way; a proxy with TLS, and --https, mend that.")

            server.run(make_app(store, settings), taken, settings, announce)


def say(text: str) -> None:
    """Print a message to the person who started the server."""
    print(text, file=sys.stderr, flush=True)
