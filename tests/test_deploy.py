"""The files of `deploy/`: they agree with each other, with the command line, and with the page that explains them."""

import configparser
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import typer.main
import yaml

from crewlearn.cli.main import app
from crewlearn.web.supervisor import STOP_SECONDS
from support.waiting import PATIENCE, until
from support.web.server import _AT

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]


def command_of(*names: str) -> Any:
    """Return a command of the command line by its names."""
    found: Any = typer.main.get_command(app)
    for name in names:
        found = found.commands[name]
    return found


def options_of(*names: str) -> set[str]:
    return {option for parameter in command_of(*names).params for option in parameter.opts}


def variables() -> set[str]:
    """Return every variable of the environment that `serve` and `doctor` read."""
    named = [parameter.envvar for name in ("serve", "doctor") for parameter in command_of(name).params]
    return {name for name in named if isinstance(name, str)}


def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of systemd keep their case
    parser.read(DEPLOY / "crewlearn.service")
    return parser


def served(volume: str) -> tuple[str, str]:
    source, _, rest = volume.partition(":")
    return source, rest.partition(":")[0]


def test_every_volume_file_and_service_of_the_compose_file_exists() -> None:
    assert set(SERVICES) == {"database", "proxy", "server"}
    for name, service in SERVICES.items():
        for volume in service.get("volumes", ()):
            source, _ = served(volume)
            if source.startswith("."):
                assert (DEPLOY / source).is_file(), (name, volume)
            else:
                assert source in COMPOSE["volumes"], (name, volume)
        assert set(service.get("depends_on", ())) <= set(SERVICES)
    build = SERVICES["server"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).is_file()


def test_server_database_and_proxy_meet() -> None:
    server, database = SERVICES["server"], SERVICES["database"]
    socket = dict(served(volume) for volume in database["volumes"])["socket"]
    assert dict(served(volume) for volume in server["volumes"])["socket"] == socket
    user = database["environment"]["POSTGRES_USER"]
    name = database["environment"]["POSTGRES_DB"]
    assert server["environment"]["CREWLEARN_DB"] == f"postgresql://{user}@/{name}?host={socket}"
    assert "listen_addresses=" in database["command"], "trust is for the socket alone"
    assert "ports" not in database
    assert "ports" not in server
    assert server["network_mode"] == "service:proxy", "the server listens on the proxy's loopback address"
    assert "--host" not in server["command"]
    assert "reverse_proxy 127.0.0.1:8000" in (DEPLOY / "Caddyfile").read_text()
    assert int(server["stop_grace_period"].removesuffix("s")) > STOP_SECONDS


def test_the_options_and_variables_named_exist() -> None:
    given = [word for word in SERVICES["server"]["command"] if word.startswith("--")]
    given += [word for word in shlex.split(unit()["Service"]["ExecStart"]) if word.startswith("--")]
    environment = (DEPLOY / "crewlearn.env").read_text()
    own = {"CREWLEARN_OPTIONS"}
    for line in environment.splitlines():
        name, _, value = line.removeprefix("# ").partition("=")
        if name.startswith("CREWLEARN_") and value:
            assert name in variables() | own, line
            if name in own:
                given += [word for word in value.split() if word.startswith("--")]
    assert len(given) > 8
    assert set(given) <= options_of("serve"), set(given) - options_of("serve")
    assert set(SERVICES["server"]["environment"]) <= variables()
    script = (DEPLOY / "start-demo").read_text()
    assert os.access(DEPLOY / "start-demo", os.X_OK)
    for line in re.findall(r"crewlearn ([a-z]+)", script.partition("set -eu")[2]):
        command_of(line)


def test_the_image_installs_what_exists() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.MULTILINE):
        *sources, _ = [word for word in line.split() if not word.startswith("--")]
        for source in sources:
            assert (ROOT / source).exists(), line
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for given in re.findall(r"EXTRAS=([a-z,]+)", dockerfile):
        assert set(given.split(",")) <= set(extras)
    assert "/api/v1/health'" in dockerfile
    assert SERVICES["server"]["entrypoint"] == ["start-demo"]
    assert "/usr/local/bin/start-demo" in dockerfile


def test_the_unit_and_its_page_name_the_same_places() -> None:
    service, page = unit()["Service"], (ROOT / "docs/how-to/operate/install.md").read_text()
    for place in (service["EnvironmentFile"], "/opt/crewlearn", "/var/lib/crewlearn"):
        assert place in page
    assert service["ExecStart"].startswith("/opt/crewlearn/bin/crewlearn serve --workers ")
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert f"sqlite:///{service['WorkingDirectory']}/site.db" in (DEPLOY / "crewlearn.env").read_text()
    assert service["Environment"] == f"CREWLEARN_CACHE=/var/cache/{service['CacheDirectory']}"
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    assert service["KillMode"] == "mixed", "only the supervisor is signalled, and stops its workers"
    assert float(service["TimeoutStopSec"]) > STOP_SECONDS
    for file in re.findall(r"deploy/([\w.-]+)", page):
        assert (DEPLOY / file).is_file(), file


def test_start_demo_serves_a_demo_and_prints_a_link(tmp_path: Path) -> None:
    """The script with the options of the compose file, at another port."""
    scripts = tmp_path / "bin"
    scripts.mkdir()
    command = scripts / "crewlearn"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m crewlearn "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "CREWLEARN_DB": f"sqlite:///{tmp_path}/site.db",
    }
    given = [re.sub(r"\$\{\w+:-(\w+)\}", r"\1", word) for word in SERVICES["server"]["command"]]
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(DEPLOY / "start-demo"), *given, "--port", "0"], stdout=output, stderr=output, env=environment
        )
    try:
        until(lambda: _AT.search(log.read_text()) or process.poll() is not None, 2 * PATIENCE)
        until(lambda: "https://localhost/sign-in/once?code=" in log.read_text(), 5.0)
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0, log.read_text()
