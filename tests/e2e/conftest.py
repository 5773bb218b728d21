"""Servers for all end-to-end tests that do not stop them, on the real embedded Postgres: one with the real model, one
without a model."""

from collections.abc import Iterator

import httpx
import pytest
from started_server import Server, start_server, stop_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(tmp_path_factory.mktemp("e2e") / "data", "--sample")
    yield started
    assert stop_server(started) == 0


@pytest.fixture(scope="session")
def scripted_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose engine answers at once: for what happens before and after decoding."""
    limits = {"LEXICUE_MAX_AUDIO_SECONDS": "600", "LEXICUE_MAX_UPLOAD_BYTES": str(8 * 1024 * 1024)}
    started = start_server(
        tmp_path_factory.mktemp("scripted") / "data", "--sample", LEXICUE_ENGINE="scripted", **limits
    )
    yield started
    assert stop_server(started) == 0


@pytest.fixture(scope="session")
def scripted(scripted_server: Server) -> Iterator[httpx.Client]:
    with scripted_server.client() as connected:
        yield connected


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as connected:
        yield connected
