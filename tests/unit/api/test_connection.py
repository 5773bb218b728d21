"""A connection whose client reads nothing is let go, and what is still answered on it is no fault."""

import asyncio
from types import SimpleNamespace

from app.api.connection import BoundedProtocol


async def test_nothing_is_written_to_a_connection_that_was_let_go() -> None:
    protocol = object.__new__(BoundedProtocol)
    cycle = SimpleNamespace(disconnected=False)
    gone_at_the_end: list[bool] = []
    protocol.loop = asyncio.get_running_loop()
    protocol.cycle = cycle  # type: ignore[assignment]
    protocol.transport = SimpleNamespace(abort=lambda: gone_at_the_end.append(cycle.disconnected))  # type: ignore[assignment]
    protocol._let_go()
    assert gone_at_the_end == [True]
