"""Does the same file give the same transcript, every time? Every clip of the manifest up to 3 minutes, over HTTP: runs
alone, runs eight at a time among all the others, and the same after a restart of the server. In: the manifest's audio.
Out: clips whose transcripts are not all one, and how many were the same. Run: python benchmarks/measure_determinism.py
"""

import argparse
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
from corpus import AUDIO, clips

from app.cli.local_server import local_server

Hashes = dict[str, set[str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs alone, and as many under load, half in each start")
    parser.add_argument("--seconds", type=float, default=180, help="longest clip")
    options = parser.parse_args()
    found = [
        clip.name for clip in clips(folders=("real", "synth", "formats", "brands")) if clip.seconds <= options.seconds
    ]
    seen: Hashes = defaultdict(set)
    before = (options.runs + 1) // 2
    for alone in (before, options.runs - before):
        with local_server(sample=True) as url, httpx.Client(base_url=url, timeout=1800) as client:
            _run(client, found * alone, seen, at_a_time=1)
            crowd = found * alone
            random.Random(alone).shuffle(crowd)
            _run(client, crowd, seen, at_a_time=8)
    different = [name for name, hashes in seen.items() if len(hashes) > 1]
    print(f"{len(seen)} clips, {options.runs} runs alone and {options.runs} eight at a time, one restart: "
          f"{len(seen) - len(different)} always the same, {len(different)} not")  # fmt: skip
    for name in different:
        print(f"- {name}: {len(seen[name])} transcripts")
    raise SystemExit(bool(different))


def _run(client: httpx.Client, names: Sequence[str], seen: Hashes, *, at_a_time: int) -> None:
    def transcribe(name: str) -> None:
        with (AUDIO / name).open("rb") as file:
            answer = client.post("/transcribe", files={"file": file}, data={"glossary": "clinic"})
        assert answer.status_code < 500, (name, answer.text)
        seen[name].add(hashlib.sha256(json.dumps(answer.json(), sort_keys=True).encode()).hexdigest())

    with ThreadPoolExecutor(at_a_time) as threads:
        list(threads.map(transcribe, names))
        print(f"{len(names)} requests, {at_a_time} at a time, done", flush=True)


if __name__ == "__main__":
    main()
