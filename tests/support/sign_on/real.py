"""A real provider of OpenID Connect: the `oidc-provider` of npm, in a process of its own on this machine.

Its packages are installed once into a cache of the user's, in the versions of `provider/package-lock.json`.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2 as httpx
import pytest

from support.waiting import PATIENCE

HERE = Path(__file__).parent / "provider"
SECRETS = {"crew": "a secret of the tests / with: signs", "posting": "another", "public": ""}
"""The clients that the provider knows, with their secrets."""


@dataclass
class RealProvider:
    """A provider's process, and its issuer."""

    options: dict[str, Any]
    folder: Path
    issuer: str = ""
    process: "subprocess.Popen[str] | None" = field(default=None, repr=False)

    def start(self) -> None:
        """Start the process; it makes keys of its own each time, and keeps nothing."""
        port = urlsplit(self.issuer).port or 0
        told = json.dumps({**self.options, "port": port})
        self.process = subprocess.Popen(
            ["node", "server.mjs", told], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.issuer = self.process.stdout.readline().strip()
        assert self.issuer.startswith("http://127.0.0.1:"), self.issuer

    def stop(self) -> None:
        """Stop the process."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None

    def restart(self) -> None:
        """Start it anew at the same address: it has other keys then, and knows no session."""
        self.stop()
        self.start()


@contextmanager
def real_provider(accounts: dict[str, dict[str, Any]], origins: list[str], **options: Any) -> Iterator[RealProvider]:
    """Run a provider with some accounts, for servers at some origins."""
    provider = RealProvider({"accounts": accounts, "origins": origins, **options}, installed())
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()


def installed() -> Path:
    """Return the folder with the provider and its packages, installing them once; skip without npm."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        _unavailable("there is no npm here")
    files = ("package.json", "package-lock.json", "server.mjs")
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in files)).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crewlearn-tests"
    folder = cache / f"oidc-provider-{digest}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = Path(tempfile.mkdtemp(dir=cache))
            for name in files:
                shutil.copy(HERE / name, unfinished / name)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"]
            done = subprocess.run(command, cwd=unfinished, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0:
                shutil.rmtree(unfinished)
                _unavailable(f"npm ci failed: {done.stderr.strip()[-300:]}")
            unfinished.rename(folder)
    return folder


def _unavailable(why: str) -> None:
    reason = f"THE PROVIDER OF SINGLE SIGN-ON IS NOT TRIED: {why}"
    if os.environ.get("CREWLEARN_REQUIRE_NPM"):
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class Person:
    """Somebody with a browser of their own at the provider, who follows it by plain requests."""

    http: httpx.Client

    def sign_in(self, address: str, login: str) -> str:
        """Follow the provider from the address that the server sends to; return the address that it sends back to."""
        response = self.http.get(address)
        while response.is_redirect or response.status_code == 200:
            if response.status_code == 200:
                place = re.search(r'action="([^"]*)"', response.text)
                assert place is not None, response.text[:2000]
                form = {"prompt": "login", "login": login, "password": "any"}
                response = self.http.post(urljoin(str(response.url), unescape(place[1])), data=form)
                continue
            following = urljoin(str(response.url), response.headers["location"])
            if "/callback?" in following:
                return following
            response = self.http.get(following)
        raise AssertionError((response.status_code, response.text[:2000]))

    def sign_out(self, address: str) -> str:
        """Confirm signing out at the provider; return the address that it sends back to."""
        response = self.http.get(address)
        assert response.status_code == 200, response.text[:2000]
        place, xsrf = (
            re.search(found, response.text) for found in (r'action="([^"]*)"', r'name="xsrf" value="([^"]*)"')
        )
        assert place is not None
        assert xsrf is not None
        form = {"xsrf": xsrf[1], "logout": "yes"}
        response = self.http.post(urljoin(str(response.url), unescape(place[1])), data=form)
        assert response.is_redirect, response.text[:2000]
        return str(response.headers["location"])


@contextmanager
def person() -> Iterator[Person]:
    with httpx.Client(timeout=PATIENCE, trust_env=False) as http:
        yield Person(http)
