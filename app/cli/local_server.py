"""A server of our own for as long as a command needs one. In: whether to load the samples. Out: its URL. Child
process on loopback, free port; stopped by its id when the block ends."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

import typer

from app.cli.client import fail


@contextlib.contextmanager
def local_server(*, sample: bool) -> Iterator[str]:
    """Start `lexicue serve` on a free port, wait until it says that it is ready, stop it afterwards.

    Its warnings go to this command's stderr. Exits with a clear line when it cannot start.
    """
    command = [sys.executable, "-m", "app.cli.main", "serve", "--host", "127.0.0.1", "--port", "0"]
    if sample:
        command.append("--sample")
    environment = {"LEXICUE_LOG_LEVEL": "warning"} | os.environ
    typer.echo("Starting a server for this command ...", err=True)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 - our own words only
        try:
            assert server.stdout is not None  # noqa: S101 - asked for above
            url = server.stdout.readline().strip()
            if not url:
                fail("The server could not start; the lines above say why.")
            yield url
        finally:
            server.terminate()
            server.wait(timeout=60)
