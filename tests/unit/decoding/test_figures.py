"""Figures of the model that are no numbers."""

from types import SimpleNamespace
from typing import Any

import pytest

from app.decoding.ladder import LADDER
from app.decoding.whisper import _attempt


@pytest.mark.parametrize(("score", "no_speech"), [(float("nan"), 0.0), (float("-inf"), 0.0), (-0.1, float("nan"))])
def test_a_figure_that_is_no_number_is_a_fault_of_the_engine(score: float, no_speech: float) -> None:
    """With half precision some devices gave NaN and a line of exclamation marks as text (public report g04)."""
    generated: Any = SimpleNamespace(sequences_ids=[[0] * 200], scores=[score], no_speech_prob=no_speech)
    with pytest.raises(FloatingPointError, match="another compute type"):
        _attempt(LADDER[0], generated, SimpleNamespace(decode=lambda tokens: "!" * 200))  # type: ignore[arg-type]
