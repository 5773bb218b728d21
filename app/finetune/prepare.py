"""Preparing a training set from beginning to end. In: an input, an output address, options. Out: shards, data card and
the list of what was left out. Blocking; main thread; workers do the work.

It may end at any point: what counts is on the output as whole files, and the next run does what is missing.
"""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.decoding.model_files import file_sha256
from app.decoding.request import Task
from app.errors import InvalidRequest
from app.finetune.card import CARD, INDEX, REJECTS, REPORT, Totals, card, dataset_files, report
from app.finetune.chunk import Job, Recipe, record_name
from app.finetune.origin import ORIGIN, origin_of, require_same
from app.finetune.output import remove_others, require_ours, unfinished_removed
from app.finetune.plan import TERMS, Chunk, Division, Plan, make_plan
from app.finetune.pool import Record, WorkerPool
from app.finetune.ray_cluster import RayCluster
from app.finetune.sound import Long
from app.finetune.sources import read_source
from app.finetune.storage import Storage
from app.finetune.target import Target, mel_bands
from app.finetune.terms import TermFinder

_VERSIONS = ("lexicue", "numpy", "av", "tokenizers", "pyarrow")


@dataclass(frozen=True, slots=True)
class Options:
    """`model`: folder with `tokenizer.json`. `max_rejects`: share of the entries in [0, 1] over which a run stops.
    `times`: how often a row with a term of `oversampled` is listed. `ray`: address of a cluster; None: this machine."""

    model: Path
    task: Task = Task.TRANSCRIBE
    language: str = ""
    long: Long = Long.REJECT
    validation: float = 0.05
    chunk_files: int = 500
    max_rejects: float = 0.05
    oversampled: tuple[str, ...] = ()
    times: int = 1
    held_out: tuple[str, ...] = ()
    max_audio_seconds: float = 7200.0
    workers: int = 1
    ray: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Told as the work goes: entries done, those of earlier runs, all, and those left out so far."""

    done: int
    resumed: int
    total: int
    rejected: int


def prepare(source: Path, out: str, options: Options, tell: Callable[[Progress], None]) -> dict[str, Any]:
    """The report (see `card.report`). Raises InvalidRequest for an input, option or output that cannot be used or when
    too much was left out, Conflict while another run writes to the same folder or when it holds another set,
    InternalError when workers fail, OSError when this process cannot read the input or write the output."""
    storage = Storage(out)
    division = Division(
        options.validation, options.chunk_files, TermFinder(options.oversampled), TermFinder(options.held_out)
    )
    with storage.alone() as held:
        require_ours(storage)
        with closing(_plan(source, options, division)) as plan, unfinished_removed(storage):
            run = _Run(plan, storage, options, tell)
            run.begin(origin_of(plan, division))
            missing = run.missing()
            if missing:
                storage.remove(INDEX)
                run.work(missing, held)
            return run.finish()


class _Run:
    def __init__(self, plan: Plan, storage: Storage, options: Options, tell: Callable[[Progress], None]) -> None:
        self._plan = plan
        self._storage = storage
        self._options = options
        self._tell = tell
        self._rejects = Counter(plan.first)
        self._done = self._resumed = plan.first.total()

    def begin(self, origin: dict[str, Any]) -> None:
        """Keep what was made from something else, and say what this is made from."""
        made = [name for name in self._storage.names() if name.startswith("records/") and name != ORIGIN]
        if made:
            require_same(self._read(ORIGIN), origin)
        self._require_few_rejects()
        self._write_changed(ORIGIN, json.dumps(origin, indent=1) + "\n")

    def missing(self) -> list[Chunk]:
        """The chunks that have no record of this very key, or whose shard has another size than it says; the largest
        come first, so that workers are done together."""
        missing = []
        for chunk in self._plan.chunks:
            record = self._record(chunk.name)
            if record["key"] == chunk.key and self._storage.size(record["shard"]) == record["bytes"]:
                self._done += chunk.size
                self._resumed += chunk.size
                self._rejects.update(reject["reason"] for reject in record["rejects"])
            else:
                missing.append(chunk)
        return sorted(missing, key=lambda chunk: -chunk.size)

    def work(self, missing: list[Chunk], held: int | None) -> None:
        jobs = (self._plan.job(chunk, self._storage.address) for chunk in missing)
        for record in self._records(jobs, held):
            self._rejects.update(reject["reason"] for reject in record["rejects"])
            self._tick(0)
            self._require_few_rejects()

    def finish(self) -> dict[str, Any]:
        """Write what stands above the shards, the index last, and remove what an earlier, other run left."""
        self._require_few_rejects()
        totals = Totals(self._plan.entries, Counter(self._plan.first))
        for chunk in self._plan.chunks:
            oversampled = f"/{TERMS}-" in chunk.name
            totals.add(self._record(chunk.name), self._options.times if oversampled else 1)
        if not totals.splits():
            raise InvalidRequest("Nothing is left to train on: see the rejects.", details=dict(totals.rejects))
        told = report(totals, _told_options(self._options, self._plan.recipe))
        files = dataset_files(totals, self._plan.recipe.mels)
        self._write_rejects()
        for name, text in ({REPORT: json.dumps(told, indent=1) + "\n", CARD: card(told)} | files).items():
            self._write_changed(name, text)
        expected = {f"{chunk.name}.arrow" for chunk in self._plan.chunks}
        expected |= {record_name(chunk.name) for chunk in self._plan.chunks} | {REPORT, REJECTS, ORIGIN} | set(files)
        remove_others(self._storage, expected)
        return told

    def _records(self, jobs: Iterator[Job], held: int | None) -> Iterator[Record]:
        if self._options.ray is not None:
            return RayCluster(self._options.ray, tick=self._tick).run(jobs)
        return WorkerPool(self._options.workers, held=() if held is None else (held,), tick=self._tick).run(jobs)

    def _record(self, name: str) -> Record:
        return self._read(record_name(name)) or {"key": None}

    def _read(self, name: str) -> Record | None:
        try:
            read: Record = json.loads(self._storage.read_text(name) or "")
        except ValueError:  # none, or a half one that some remote storage kept
            return None
        return read

    def _write_changed(self, name: str, text: str) -> None:
        if self._storage.read_text(name) != text:
            self._storage.write_text(name, text)

    def _write_rejects(self) -> None:
        with self._storage.writing(REJECTS) as path, path.open("wb") as file:
            self._plan.rejects.seek(0)
            shutil.copyfileobj(self._plan.rejects, file)
            for chunk in self._plan.chunks:
                record = self._record(chunk.name)
                for reject in record["rejects"] if record["key"] == chunk.key else ():
                    file.write(json.dumps(reject).encode("ascii") + b"\n")

    def _tick(self, entries: int) -> None:
        self._done += entries
        self._tell(Progress(self._done, self._resumed, self._plan.entries, self._rejects.total()))

    def _require_few_rejects(self) -> None:
        if self._rejects.total() > self._options.max_rejects * self._plan.entries:
            self._write_rejects()
            reasons = ", ".join(f"{reason} {count}" for reason, count in self._rejects.most_common())
            raise InvalidRequest(
                f"{self._rejects.total()} of {self._plan.entries} entries were left out ({reasons}), more than the "
                f"limit of {self._options.max_rejects:.1%}. {REJECTS} in the output folder names those seen so far; "
                "put them right and run again, or raise --max-rejects.",
                code="too_many_rejects",
                details=dict(self._rejects),
            )


def _plan(source: Path, options: Options, division: Division) -> Plan:
    tokenizer = options.model / "tokenizer.json"
    Target(tokenizer, options.task)  # says now what every worker would say later
    recipe = Recipe(
        tokenizer=str(tokenizer.resolve()),
        tokenizer_sha256=file_sha256(tokenizer),
        mels=mel_bands(options.model),
        task=options.task,
        long=options.long,
        max_audio_seconds=options.max_audio_seconds,
        versions={name: version(name) for name in _VERSIONS},
    )
    base = (source if source.is_dir() else source.parent).resolve()
    plan = make_plan(read_source(source, options.language), division, recipe, base)
    if not plan.entries:
        plan.close()
        raise InvalidRequest("The input has no entries.", param="manifest")
    return plan


def _told_options(options: Options, recipe: Recipe) -> dict[str, Any]:
    return {
        "options": {
            "tokenizer_sha256": recipe.tokenizer_sha256,
            "mels": recipe.mels,
            "task": recipe.task.value,
            "long": recipe.long.value,
            "validation": options.validation,
            "oversampled_terms": len(options.oversampled),
            "times": options.times,
            "held_out_terms": len(options.held_out),
        },
        "versions": recipe.versions,
    }
