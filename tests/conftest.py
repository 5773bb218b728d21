"""What holds for every test: one event loop implementation for the async ones."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
