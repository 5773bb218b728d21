"""What holds for every test: one event loop implementation for the async ones, and no clock for the property tests."""

import pytest
from hypothesis import settings

# A busy machine is no fault: how long an example takes is measured under benchmarks/, nowhere else.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
