"""Error rates between texts. In: what was said and what was heard. Out: edits and the length they are counted against.
Pure; any thread."""

from dataclasses import dataclass

import jiwer

from app.audit.hearing import plain


@dataclass(frozen=True, slots=True)
class Errors:
    """`edits` over `length` is the rate; kept apart, so that files can be pooled."""

    edits: int
    length: int

    @property
    def rate(self) -> float:
        return self.edits / self.length if self.length else float(bool(self.edits))


def word_errors(reference: str, heard: str) -> Errors:
    """After case and punctuation are taken away."""
    if not plain(reference):
        return Errors(len(plain(heard).split()), 0)
    output = jiwer.process_words(plain(reference), plain(heard))
    return Errors(
        output.substitutions + output.deletions + output.insertions,
        output.substitutions + output.deletions + output.hits,
    )


def character_errors(reference: str, heard: str) -> Errors:
    """As `word_errors`, by characters; spaces count."""
    return _character_errors(plain(reference), plain(heard))


def exact_character_errors(reference: str, heard: str) -> Errors:
    """Every character as it stands: between runs that should be identical nothing is forgiven."""
    return _character_errors(reference, heard)


def _character_errors(reference: str, heard: str) -> Errors:
    if not reference:
        return Errors(len(heard), 0)
    output = jiwer.process_characters(reference, heard)
    return Errors(
        output.substitutions + output.deletions + output.insertions,
        output.substitutions + output.deletions + output.hits,
    )
