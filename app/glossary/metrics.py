"""Numbers of the glossary station. In: what the store serves. Out: gauges and counters in one registry. Any thread."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class GlossaryMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.stale = Gauge(
            "lexicue_glossary_stale",
            "Glossaries last served from the copy in memory because the database was away.",
            registry=registry,
        )
        self.stale_served = Counter(
            "lexicue_glossary_stale_served",
            "Times that a glossary was served from the copy in memory because the database was away.",
            registry=registry,
        )
        self.database_up = Gauge(
            "lexicue_database_up", "1 while the connection that watches the database stands.", registry=registry
        )
        self.prompts_unsaved = Gauge(
            "lexicue_prompts_unsaved",
            "Prompts that were sent and wait for the database to be recorded.",
            registry=registry,
        )
