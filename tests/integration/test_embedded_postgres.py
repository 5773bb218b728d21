"""The embedded Postgres as an operator meets it: again and again, several at once, after crashes, as root and not."""

import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from app.embedded_postgres.server import DATABASE, ROLE, EmbeddedPostgres
from app.errors import NotReady

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to act as two users: run the tests as root as well")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lexicue-test-") as path:
        yield Path(path).resolve()


def query(server: EmbeddedPostgres, sql: str) -> object:
    with psycopg.connect(host=str(server.socket_dir), user=ROLE, dbname=DATABASE) as connection:
        row = connection.execute(sql).fetchone()  # type: ignore[call-overload]
        return row[0] if row else None


def write(server: EmbeddedPostgres, sql: str) -> None:
    with psycopg.connect(host=str(server.socket_dir), user=ROLE, dbname=DATABASE, autocommit=True) as connection:
        connection.execute(sql)  # type: ignore[call-overload]


def running(server: EmbeddedPostgres) -> psutil.Process:
    process = server.postmaster()
    assert process is not None
    return process


def kill(server: EmbeddedPostgres) -> None:
    process = running(server)
    process.send_signal(signal.SIGKILL)
    process.wait(10)


def test_data_is_there_after_each_stop_and_start(folder: Path) -> None:
    for round_ in range(3):
        server = EmbeddedPostgres(folder)
        server.start()
        write(server, f"CREATE TABLE round_{round_} ()")
        assert query(server, "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'round%'") == round_ + 1
        server.stop()
        assert server.postmaster() is None


def test_the_service_is_no_superuser_and_nothing_listens_on_tcp(postgres: EmbeddedPostgres) -> None:
    assert (
        query(postgres, "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = 'lexicue'")
        is False
    )
    listening = [c for c in running(postgres).net_connections() if c.status == psutil.CONN_LISTEN]
    assert listening == []
    assert {c.family for c in running(postgres).net_connections("unix")} <= {socket.AF_UNIX}
    assert postgres.cluster.stat().st_mode & 0o077 == 0
    assert (postgres.socket_dir / ".s.PGSQL.5432").stat().st_mode & 0o077 == 0


def test_settings_and_secrets_of_the_service_do_not_reach_the_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXICUE_APP_KEYS", "secret")
    server = EmbeddedPostgres(folder)
    server.start()
    assert "LEXICUE_APP_KEYS" not in running(server).environ()
    server.stop()


def test_two_folders_are_two_servers(folder: Path) -> None:
    servers = [EmbeddedPostgres(folder / name) for name in ("a", "b")]
    for server in servers:
        server.start()
    write(servers[0], "CREATE TABLE only_in_a ()")
    assert query(servers[1], "SELECT to_regclass('only_in_a')") is None
    for server in servers:
        server.stop()


def test_one_folder_is_one_server_until_the_last_user_leaves(folder: Path) -> None:
    first, second = EmbeddedPostgres(folder), EmbeddedPostgres(folder)
    first.start()
    second.start()
    assert running(first).pid == running(second).pid
    first.stop()
    assert query(second, "SELECT 1") == 1
    second.stop()
    assert second.postmaster() is None


def test_committed_data_survives_the_death_of_the_server(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    write(server, "CREATE TABLE kept AS SELECT 7 AS n")
    kill(server)
    server.ensure_running()
    assert query(server, "SELECT n FROM kept") == 7
    server.stop()


def test_a_server_left_by_a_killed_service_is_taken_over(folder: Path) -> None:
    script = (
        "import sys, os, signal; from pathlib import Path; from app.embedded_postgres.server import EmbeddedPostgres\n"
        "EmbeddedPostgres(Path(sys.argv[1])).start(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", script, folder], check=False)
    assert killed.returncode == -signal.SIGKILL
    server = EmbeddedPostgres(folder)
    left_over = running(server).pid
    server.start()
    assert running(server).pid == left_over
    server.stop()
    assert server.postmaster() is None


def test_a_stale_process_id_that_another_process_has_now_is_no_obstacle(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    pid_file = server.cluster / "postmaster.pid"
    lines = pid_file.read_text().splitlines(keepends=True)
    socket_lock = server.socket_dir / ".s.PGSQL.5432.lock"
    kill(server)
    for file in (pid_file, socket_lock):
        file.write_text("".join([f"{os.getpid()}\n", *lines[1:]]))
    server.ensure_running()
    assert query(server, "SELECT 1") == 1
    server.stop()


@pytest.mark.parametrize("name", ["with a space and 'quotes'", "x" * 150])
def test_any_folder_name_will_do(folder: Path, name: str) -> None:
    server = EmbeddedPostgres(folder / name)
    server.start()
    assert query(server, "SELECT 1") == 1
    assert len(os.fsencode(server.socket_dir)) < 90 or server.socket_dir.is_relative_to(folder)
    server.stop()
    if not server.socket_dir.is_relative_to(folder):
        assert server.socket_dir.stat().st_mode & 0o077 == 0
        server.socket_dir.rmdir()


def test_a_half_made_database_is_made_again(folder: Path) -> None:
    half_made = folder / "postgres" / "cluster.new"
    half_made.mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")
    server = EmbeddedPostgres(folder)
    server.start()
    assert query(server, "SELECT current_user") == ROLE
    server.stop()


def test_a_server_that_cannot_start_says_why(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    server.stop()
    (server.cluster / "PG_VERSION").write_text("9\n")
    with pytest.raises(NotReady, match="incompatible with server") as refused:
        server.start()
    assert refused.value.code == "embedded_postgres_failed"


def as_nobody(folder: Path) -> subprocess.CompletedProcess[str]:
    nobody = pwd.getpwnam("nobody")
    script = (
        "import sys; from pathlib import Path; from app.embedded_postgres.server import EmbeddedPostgres\n"
        "s = EmbeddedPostgres(Path(sys.argv[1])); s.start(); print(s.postmaster().username()); s.stop()"
    )
    return subprocess.run(
        [sys.executable, "-c", script, folder],
        user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], cwd=Path(__file__).parents[2],
        env={"PATH": os.defpath, "HOME": "/nonexistent"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@as_root
def test_a_plain_user_can_run_it_after_root_did(folder: Path) -> None:
    server = EmbeddedPostgres(folder / "of-root")
    server.start()
    assert running(server).username() != "root"
    own = folder / "of-nobody"
    own.mkdir()
    os.chown(own, pwd.getpwnam("nobody").pw_uid, -1)
    done = as_nobody(own)
    assert (done.returncode, done.stdout.strip()) == (0, "nobody"), done.stderr
    server.stop()


@as_root
def test_the_folder_of_another_user_is_refused_with_the_way_out(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    server.stop()
    refused = as_nobody(folder)
    assert refused.returncode == 1
    assert "Set LEXICUE_DATA_DIR to a folder of your own" in refused.stderr


@as_root
def test_folders_on_the_way_may_be_searched_but_not_read(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    server = EmbeddedPostgres(private / "data")
    server.start()
    server.stop()
    assert private.stat().st_mode & 0o777 == 0o701
