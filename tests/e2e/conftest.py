"""One server for all end-to-end tests that do not stop it: the real model, the real embedded Postgres."""

from collections.abc import Iterator

import httpx
import pytest
from started_server import Server, start_server, stop_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(tmp_path_factory.mktemp("e2e") / "data", "--sample")
    yield started
    assert stop_server(started) == 0


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected
