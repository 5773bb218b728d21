"""Is this the run that the output folder was begun by? In: its options and plan; what the folder says. Out: nothing, or
what differs. Pure; any thread."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from app.errors import Conflict
from app.finetune.plan import Division, Plan

# Where a folder says it.
ORIGIN = "records/input.json"


def origin_of(plan: Plan, division: Division) -> dict[str, Any]:
    """What must be the same for a later run to go on: what decides the shards besides the manifest's own lines."""
    recipe = plan.recipe
    settings = {
        "--model": f"tokenizer {recipe.tokenizer_sha256[:12]}, {recipe.mels} bands",
        "--task": recipe.task.value,
        "--long": recipe.long.value,
        "--validation": division.validation,
        "--chunk": division.chunk_files,
        "--oversample": _digest(division.oversampled.keys),
        "--hold-out": _digest(division.held_out.keys),
        "LEXICUE_MAX_AUDIO_SECONDS": recipe.max_audio_seconds,
    }
    return {"settings": settings | recipe.versions, "sample": plan.sample}


def require_same(before: dict[str, Any] | None, now: dict[str, Any]) -> None:
    """`before`: what the folder says, None where it says nothing. Lines may have been put right, added or taken away
    since then. Raises Conflict for other settings, and for an input without any recording of the first one."""
    if before is None:
        return
    names = sorted(before["settings"].keys() | now["settings"].keys())
    changes = [
        f"{name} was {_said(before['settings'].get(name))}, is {_said(now['settings'].get(name))}"
        for name in names
        if before["settings"].get(name) != now["settings"].get(name)
    ]
    if changes:
        raise _other("other settings: " + "; ".join(changes), "other_settings")
    if before["sample"] and now["sample"] and not set(before["sample"]) & set(now["sample"]):
        raise _other("another input: it shares no recording with this one", "other_manifest")


def _other(what: str, code: str) -> Conflict:
    return Conflict(
        f"The output folder was begun with {what}. Name another folder, or remove this one.", param="out", code=code
    )


def _said(value: object) -> object:
    return "none" if value in ("", None) else value


def _digest(terms: Iterable[str]) -> str:
    listed = sorted(terms)
    return f"{len(listed)} terms, {hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:12]}" if listed else ""
