"""A thousand webhook deliveries, while servers and receivers are killed at random moments.

Each must arrive, none wrongly signed, in order for each site. Takes a few minutes; `--many` makes it shorter.
"""

import argparse
import hashlib
import hmac
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

from crewlearn.advisor.advice import commands
from crewlearn.advisor.advice.opening import open_store
from crewlearn.advisor.ledger.db import schema
from crewlearn.advisor.ledger.notices import webhooks
from crewlearn.advisor.ledger.store import Store
from support.stores import ME, config, postgres_server
from support.web.receiving import Delivering, Receiver, cause, statuses

SITES = tuple(f"site {number}" for number in range(5))
SERVERS = 2
LOST_SECONDS = 2.0
PATIENCE_SECONDS = 400.0


def run(url: str, many: int, seed: int) -> list[str]:
    """Make `many` deliveries over a store; return what went wrong."""
    rng, over = random.Random(seed), threading.Event()
    servers = [Delivering(url, LOST_SECONDS) for _ in range(SERVERS)]
    here, kills, secrets = Receiver(), [0, 0], {}
    here.start()
    with open_store(url) as store:
        for site in SITES:
            commands.create_site(store, site, config(), ME)
            secrets[site] = webhooks.add(store, site, here.url, ME, ["import.failed"])[1]
        for server in servers:
            server.start()

        def disturb() -> None:
            """Kill a server or the receiver again and again, for a moment."""
            while not over.wait(rng.uniform(0.5, 2.5)):
                if rng.random() < 0.6:
                    server = rng.choice(servers)
                    server.kill()
                    time.sleep(rng.uniform(0.0, 0.5))
                    server.start()
                    kills[0] += 1
                else:
                    here.stop()
                    time.sleep(rng.uniform(0.0, 1.0))
                    here.start()
                    kills[1] += 1

        disturbing = threading.Thread(target=disturb)
        disturbing.start()
        began = time.monotonic()
        for number in range(many):
            cause(store, rng.choice(SITES), number)
            time.sleep(rng.uniform(0.0, 0.05))
        caused = time.monotonic() - began
        try:
            _wait(store, many)
        finally:
            over.set()
            disturbing.join()
            for server in servers:
                server.kill()
            here.stop()
        took = time.monotonic() - began
        faults = _faults(store, here, secrets, many)
    repeated = len(here.got) - len(here.first_of_each)
    print(
        f"{many} deliveries caused in {caused:.0f} s, all through after {took:.0f} s; servers killed {kills[0]} times, "
        f"the receiver {kills[1]} times; {repeated} came more than once; {len(faults)} faults"
    )
    return faults


def _wait(store: Store, many: int) -> None:
    """Wait until all are delivered; pauses after failures are cut to a few seconds, as the receiver soon is back."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while statuses(store) != ["delivered"] * many and time.monotonic() < give_up:
        time.sleep(3.0)
        with store.changing() as connection:
            connection.execute(schema.webhooks.update().values(next_try=0.0))


def _faults(store: Store, here: Receiver, secrets: dict[str, str], many: int) -> list[str]:
    faults = [] if statuses(store) == ["delivered"] * many else ["some deliveries are not marked as delivered"]
    first = here.first_of_each
    missing = set(range(many)) - {document["facts"]["n"] for document in first}
    faults += [f"{len(missing)} never arrived"] if missing else []
    for site in SITES:
        order = [document["number"] for document in first if document["site"] == site]
        faults += [f"{site}: out of order"] if order != sorted(order) else []
    for got in here.got:
        stamp, secret = got.headers["Crewlearn-Timestamp"], secrets[got.document["site"]]
        wanted = "v1=" + hmac.new(secret.encode(), stamp.encode() + b"." + got.body, hashlib.sha256).hexdigest()
        if wanted not in got.headers["Crewlearn-Signature"].split(", "):
            faults.append(f"{got.document['delivery']} is wrongly signed")
    return faults


def main() -> None:
    """Run it on SQLite and PostgreSQL, and exit with 1 if anything went wrong."""
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--many", type=int, default=1000, help="deliveries on each database")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    chosen = parse.parse_args()
    os.nice(10)
    faults = []
    if "sqlite" in chosen.databases:
        with tempfile.TemporaryDirectory() as folder:
            print("sqlite:", end=" ", flush=True)
            faults += run(f"sqlite:///{Path(folder) / 'soak.db'}", chosen.many, chosen.seed)
    if "postgresql" in chosen.databases:
        with postgres_server(durable=True) as address:
            print("postgresql:", end=" ", flush=True)
            faults += run(address.replace("DATABASE", "postgres"), chosen.many, chosen.seed)
    sys.exit("\n".join(faults) if faults else 0)


if __name__ == "__main__":
    main()
