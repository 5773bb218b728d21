"""A worker process: `python -m app.finetune.worker`. In: one job a line on stdin. Out: lines on stdout: the position
of the entry that it is at, and at the end of a chunk its record. One thread; ends when its parent does."""

import json
import sys

# Numeric libraries read these when they are imported: a worker has one core to itself.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def main() -> None:
    import pyarrow as pa

    from app.finetune.chunk import Job, prepare_chunk

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    _say({"ready": True})
    for line in sys.stdin:
        try:
            _say({"record": prepare_chunk(Job.from_json(line), lambda position: _say({"at": position}))})
        except BrokenPipeError:
            raise
        except OSError as error:
            _say({"failed": f"The shard cannot be written: {error.strerror or error}"})


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        # The parent is gone: what is unfinished is worth nothing, and there is nobody to tell.
        sys.stderr = None
        sys.exit(1)
