"""`crewlearn webhook`: addresses that are told of what happens at a site."""

import sys
from typing import Annotated, Any

import typer

from crewlearn.cli.live.session import DEFAULT_DB, ActorOption, DbOption, SiteArgument, opened, who
from crewlearn.cli.options import JsonOption
from crewlearn.cli.output import print_json, print_table

app = typer.Typer(help="Tell other systems what happens at a site; `crewlearn serve` delivers.", no_args_is_help=True)

NumberArgument = Annotated[int, typer.Argument(help="The webhook's number; see: crewlearn webhook list SITE")]


@app.command("add")
def add_command(
    site: SiteArgument,
    url: Annotated[str, typer.Argument(help="An https address, or http on the server's own machine.")],
    on: Annotated[
        list[str] | None,
        typer.Option(help="advice.new, offer.overdue, import.failed or trend.found; repeatable. By default all."),
    ] = None,
    actor: ActorOption = None,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """Add a webhook and show its secret once; it signs every delivery."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.notices import webhooks
        from crewlearn.advisor.ledger.notices.kinds import KINDS

        webhook, secret = webhooks.add(store, site, url, who(actor), on or KINDS)
    if json:
        print_json({**_as_json(webhook), "secret": secret})
    else:
        print(f"Webhook {webhook.id} of {site}. Its secret is not shown again:", file=sys.stderr)
        print(secret)


@app.command("list")
def list_command(site: SiteArgument, db: DbOption = DEFAULT_DB, json: JsonOption = False) -> None:
    """List the webhooks of a site and what waits for them."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.notices import webhooks

        listed = webhooks.list_webhooks(store, site)
    if json:
        print_json([_as_json(webhook) for webhook in listed])
    elif listed:
        rows = [
            [str(hook.id), hook.url, ", ".join(hook.kinds), str(hook.waiting), str(hook.failed), hook.fault]
            for hook in listed
        ]
        print_table("Webhooks:", ["no.", "address", "told of", "waiting", "failed", "last fault"], rows, words=3)
    else:
        print(f"{site} has no webhook. Add one: crewlearn webhook add {site} URL")


@app.command("remove")
def remove_command(site: SiteArgument, number: NumberArgument, db: DbOption = DEFAULT_DB) -> None:
    """Remove a webhook with everything that waits for it."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.notices import webhooks

        webhooks.remove(store, site, number)


@app.command("secret")
def secret_command(
    site: SiteArgument,
    number: NumberArgument,
    hours: Annotated[float, typer.Option(help="Hours for which the old secret signs too.")] = 24.0,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Give a webhook a new secret and show it once."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.notices import webhooks

        secret = webhooks.rotate(store, site, number, hours)
    print(f"New secret of webhook {number}; the old one signs too for {hours:g} hours:", file=sys.stderr)
    print(secret)


@app.command("test")
def send_test_command(site: SiteArgument, number: NumberArgument, db: DbOption = DEFAULT_DB) -> None:
    """Put a test delivery in a webhook's outbox, which a running server delivers."""
    with opened(db) as store:
        from crewlearn.advisor.ledger.notices import webhooks

        uid = webhooks.send_test(store, site, number)
    print(f"Delivery {uid} waits for a server. Look: crewlearn webhook deliveries {site} {number}", file=sys.stderr)


@app.command("deliveries")
def deliveries_command(
    site: SiteArgument,
    number: NumberArgument,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the newest first.")] = 20,
    db: DbOption = DEFAULT_DB,
    json: JsonOption = False,
) -> None:
    """List the deliveries of a webhook, the newest first."""
    with opened(db) as store:
        from crewlearn.web.notices import deliveries

        listed = deliveries.list_deliveries(store, site, number, limit=limit)
    if json:
        print_json([_as_json(delivery) for delivery in listed])
    else:
        rows = [
            [sent.id, sent.kind, f"{sent.created:%Y-%m-%d %H:%M}", sent.status, str(sent.attempts), sent.outcome]
            for sent in listed
        ]
        print_table("Deliveries:", ["id", "kind", "created (UTC)", "status", "attempts", "outcome"], rows, words=5)


@app.command("retry")
def retry_command(
    site: SiteArgument,
    number: NumberArgument,
    delivery: Annotated[str, typer.Argument(help="The delivery's id; see: crewlearn webhook deliveries SITE NUMBER")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Send a delivery again; one that waits is tried at once."""
    with opened(db) as store:
        from crewlearn.web.notices import deliveries

        deliveries.send_again(store, site, number, delivery)


def _as_json(listed: Any) -> dict[str, Any]:
    """Return a webhook or delivery as plain data."""
    return {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in vars(listed).items()}
