"""A folder is gone on with by the run that it was begun by, and by no other."""

from typing import Any

import pytest

from app.errors import Conflict
from app.finetune.origin import require_same


def said(*recordings: str, **settings: object) -> dict[str, Any]:
    return {"settings": {"--long": "reject", "numpy": "2.4"} | settings, "sample": list(recordings)}


def test_lines_may_be_added_taken_away_and_put_right() -> None:
    require_same(said("a", "b", "c"), said("c", "d", "e", "f"))
    require_same(None, said("a"))
    require_same(said("a"), said())


def test_other_settings_are_refused_by_name() -> None:
    with pytest.raises(Conflict, match=r"--long was reject, is cut; numpy was 2\.4, is 2\.5\. Name another") as refused:
        require_same(said("a"), said("a", **{"--long": "cut", "numpy": "2.5"}))
    assert refused.value.code == "other_settings"


def test_an_input_without_one_of_the_recordings_is_refused() -> None:
    with pytest.raises(Conflict, match="shares no recording") as refused:
        require_same(said("a", "b"), said("c", "d"))
    assert refused.value.code == "other_manifest"
