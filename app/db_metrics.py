"""How busy the database connections are. In: the pool, looked at when a scrape comes. Out: gauges and a counter. Event
loop thread."""

from collections.abc import Iterator
from typing import Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class Pool(Protocol):
    """`pool_size`: connections at most; `pool_in_use`: lent out now; `pool_timeouts`: callers so far who got none in
    time and were answered 503."""

    @property
    def pool_size(self) -> int: ...
    @property
    def pool_in_use(self) -> int: ...
    @property
    def pool_timeouts(self) -> int: ...


class DatabaseMetrics(Collector):
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "lexicue_database_pool_size", "Database connections that may be open.", value=self._pool.pool_size
        )
        yield GaugeMetricFamily(
            "lexicue_database_pool_in_use", "Database connections lent out now.", value=self._pool.pool_in_use
        )
        yield CounterMetricFamily(
            "lexicue_database_pool_timeouts",
            "Callers who waited too long for a database connection.",
            value=self._pool.pool_timeouts,
        )
