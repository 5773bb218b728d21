"""What a prepared set says about itself. In: the records of all chunks, the plan's counts, the options. Out: the data
card, the same as JSON, and the files that `datasets` looks for. No clock and no path of this machine goes in: the same
input gives the same bytes. Pure; any thread."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.finetune.columns import features_of
from app.finetune.entries import Split

CARD, REPORT, REJECTS, INDEX = "README.md", "lexicue.json", "rejects.jsonl", "dataset_dict.json"


@dataclass(slots=True)
class Totals:
    """Counts over all chunks; `shards` by split, as (file, sha256, rows, times): `times` says how often a shard is
    listed, which is how terms are oversampled without a second copy."""

    entries: int
    rejects: Counter[str]
    rows: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    shards: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cut: int = 0

    def add(self, record: dict[str, Any], times: int) -> None:
        """Chunks must come in the plan's order."""
        split = record["shard"].partition("/")[0]
        for reject in record["rejects"]:
            self.rejects[reject["reason"]] += 1
        self.rows[split] += record["rows"]
        self.seconds[split] += record["seconds"]
        self.languages.update(record["languages"])
        self.cut += record["cut"]
        shard = {name: record[name] for name in ("shard", "sha256", "bytes", "rows")}
        self.shards.setdefault(split, []).append(shard | {"times": times})

    @property
    def rejected(self) -> int:
        return self.rejects.total()

    def splits(self) -> list[str]:
        """Those with a row, in the order of `Split`."""
        return [split.value for split in Split if self.rows[split.value]]


def report(totals: Totals, options: dict[str, Any]) -> dict[str, Any]:
    """The card as data: counts, hours, rejects by reason, options, versions, the hash of every shard."""
    shards = [shard for split in totals.splits() for shard in totals.shards[split]]
    return {
        "entries": totals.entries,
        "rows": {split: totals.rows[split] for split in totals.splits()},
        "hours": {split: round(totals.seconds[split] / 3600, 4) for split in totals.splits()},
        "languages": dict(sorted(totals.languages.items())),
        "cut_to_30_s": totals.cut,
        "rejected": totals.rejected,
        "rejects": dict(sorted(totals.rejects.items())),
        **options,
        "sha256": hashlib.sha256("".join(shard["sha256"] for shard in shards).encode()).hexdigest(),
        "shards": shards,
    }


def dataset_files(totals: Totals, mels: int) -> dict[str, str]:
    """What `datasets.load_from_disk` reads, by name. The index comes last: without it nothing can be loaded, so that
    a set is there when it is whole."""
    files = {}
    for split in totals.splits():
        listed = [shard for shard in totals.shards[split] if shard["rows"]]
        names = [{"filename": shard["shard"].partition("/")[2]} for shard in listed for _ in range(shard["times"])]
        hashes = "".join(shard["sha256"] * shard["times"] for shard in listed)
        state: dict[str, Any] = {
            "_data_files": names,
            "_fingerprint": hashlib.sha256(hashes.encode()).hexdigest()[:16],
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": split,
        }
        info = {"description": "", "citation": "", "homepage": "", "license": "", "features": features_of(mels)}
        files[f"{split}/state.json"] = _json(state)
        files[f"{split}/dataset_info.json"] = _json(info)
    files[INDEX] = _json({"splits": totals.splits()})
    return files


def card(told: dict[str, Any]) -> str:
    """`told`: what `report` gives."""
    languages = "".join(f"- {code}\n" for code in told["languages"])
    lines = [
        "---\npretty_name: Whisper training shards\ntask_categories:\n- automatic-speech-recognition\n"
        f"language:\n{languages}---",
        "# Whisper training shards\n",
        "Log-mel features and labels, computed once. Load with "
        '`datasets.load_from_disk(FOLDER)["train"].with_format("torch")`.\n',
        "## Counts\n",
        _table(
            ("split", "rows", "hours"),
            [(split, f"{rows:,}", f"{told['hours'][split]:.2f}") for split, rows in told["rows"].items()],
        ),
        f"{told['entries']:,} entries came in, {told['rejected']:,} were left out, "
        f"{told['cut_to_30_s']:,} were cut to their first 30 s.\n",
        "## Left out, by reason\n",
        _table(("reason", "entries"), [(reason, f"{count:,}") for reason, count in told["rejects"].items()])
        if told["rejects"]
        else "Nothing.\n",
        "Each one is named in `rejects.jsonl`.\n",
        "## Languages\n",
        _table(("language", "rows"), [(code, f"{rows:,}") for code, rows in told["languages"].items()]),
        "## Made with\n",
        _table(("what", "value"), [(name, str(value)) for name, value in (told["options"] | told["versions"]).items()]),
        "## Shards\n",
        f"sha256 over the hashes of all shards: `{told['sha256']}`\n",
        _table(
            ("shard", "rows", "listed", "sha256"),
            [(each["shard"], f"{each['rows']:,}", f"{each['times']} x", each["sha256"]) for each in told["shards"]],
        ),
    ]
    return "\n".join(lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"
