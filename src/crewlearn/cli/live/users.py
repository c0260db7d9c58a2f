"""`crewlearn users`: the users of the web pages and the API."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crewlearn.cli.live.session import DEFAULT_DB, DbOption, opened
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import print_json, print_table

if TYPE_CHECKING:
    from crewlearn.web.auth.users import User

app = typer.Typer(help="Manage the users of the web pages and the API.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(help="The user's name, as it will appear in the record.")]
SiteOption = Annotated[
    list[str] | None, typer.Option("--site", help="Limit the user to this site; repeatable. By default all sites.")
]
RoleOption = Annotated[
    str, typer.Option(help="viewer (read only), manager (records and decides) or admin (sets up sites).")
]


@app.command("add")
def add_command(name: NameArgument, role: RoleOption, site: SiteOption = None, db: DbOption = DEFAULT_DB) -> None:
    """Add a user; give them a token next."""
    with opened(db, make=True) as store:
        from crewlearn.web.auth import users

        users.add(store, name, role, site or None)
    print(f"{name} is {role}. Next: crewlearn users token {name!r}", file=sys.stderr)


@app.command("list")
def list_command(db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """List users and their tokens; a token's secret cannot be shown again."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        known_users = users.list_users(store)
        now = store.clock()
    if json:
        print_json([_as_json(user) for user in known_users])
    elif known_users:
        rows = [
            [
                user.name + (" (disabled)" if user.disabled else "") + (" (single sign-on)" if user.origin else ""),
                user.role,
                "all" if user.sites is None else ", ".join(user.sites),
                "; ".join(
                    f"{token.id} {token.label}".strip() + f" until {token.expires.date()}"
                    for token in user.tokens
                    if token.revoked is None and token.expires > now
                ),
            ]
            for user in known_users
        ]
        print_table("Users:", ["name", "role", "sites", "tokens"], rows, words=4)
    else:
        print("There is no user yet. Add one: crewlearn users add NAME --role admin")


@app.command("set")
def set_command(
    name: NameArgument,
    role: Annotated[str | None, typer.Option(help="viewer, manager or admin; unchanged by default.")] = None,
    site: Annotated[list[str] | None, typer.Option("--site", help="Limit the user to this site; repeatable.")] = None,
    all_sites: Annotated[bool, typer.Option("--all-sites", help="Give the user access to all sites.")] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Change a user's role or sites."""
    with opened(db) as store:
        from crewlearn.problem.errors import InvalidInput
        from crewlearn.web.auth import users

        if all_sites and site:
            raise InvalidInput("site", site, "cannot be combined with --all-sites; choose one of the two")
        users.change(store, name, role, site or None)
        if all_sites:
            users.everywhere(store, name)


@app.command("token")
def token_command(
    name: NameArgument,
    days: Annotated[float, typer.Option(help="Days until the token expires.")] = 90.0,
    label: Annotated[str, typer.Option(help="What the token is for.")] = "",
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Create a token and show it once; keep it like a password."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        token, secret = users.new_token(store, name, days, label)
    if json:
        print_json({"id": token.id, "label": token.label, "expires": token.expires.isoformat(), "token": secret})
    else:
        print(f"Token {token.id} of {name}, until {token.expires.date()}; it is not shown again:", file=sys.stderr)
        print(secret)


@app.command("revoke")
def revoke_command(
    name: NameArgument,
    token: Annotated[
        int | None, typer.Option(help="Number of the token; by default all tokens and sessions of the user.")
    ] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Revoke tokens and end the sessions that they opened."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        count = users.revoke(store, name, token)
    print(f"{count} token{'' if count == 1 else 's'} revoked.", file=sys.stderr)


@app.command("disable")
def disable_command(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """Block a user at once; the record keeps their name."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        users.disable(store, name)


@app.command("enable")
def enable_command(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """Unblock a disabled user."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        users.enable(store, name)


@app.command("link")
def link_command(
    name: NameArgument,
    url: Annotated[str, typer.Option(help="Address of the server.")] = "http://127.0.0.1:8000",
    db: DbOption = DEFAULT_DB,
) -> None:
    """Create a link that signs the user in; it works once and expires after 15 minutes."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        code = users.new_link(store, name)
    print(f"{url.rstrip('/')}/sign-in/once?code={code}")


@app.command("sign-on")
def sign_on_command(
    name: NameArgument,
    issuer: Annotated[str, typer.Option(help="The issuer, as in the settings of single sign-on.")],
    subject: Annotated[str, typer.Option(help="Who they are there: the claim `sub`, as the server's log tells it.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Let a user who exists already come in by single sign-on, which then sets their role and sites."""
    with opened(db) as store:
        from crewlearn.web.auth import users

        users.join(store, name, issuer, subject)


def _as_json(user: "User") -> dict[str, Any]:
    return {
        "name": user.name,
        "role": user.role,
        "sites": None if user.sites is None else list(user.sites),
        "disabled": user.disabled,
        "origin": user.origin,
        "tokens": [
            {
                "id": token.id,
                "label": token.label,
                "created": token.created.isoformat(),
                "expires": token.expires.isoformat(),
                "revoked": None if token.revoked is None else token.revoked.isoformat(),
            }
            for token in user.tokens
        ],
    }
