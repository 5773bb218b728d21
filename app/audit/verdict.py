"""How an audit ends. In: what was found. Out: kept, broken or inconclusive, with an exit code that CI understands.
Pure; any thread."""

from enum import StrEnum


class Verdict(StrEnum):
    """`kept`: the promise held in every probe. `broken`: at least one shows otherwise. `inconclusive`: the material
    did not allow to tell."""

    KEPT = "kept"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"

    @property
    def exit_code(self) -> int:
        """0, 1 or 3; 2 is what a command answers to a wrong option."""
        return {Verdict.KEPT: 0, Verdict.BROKEN: 1, Verdict.INCONCLUSIVE: 3}[self]
