"""The model's own process: `python -m app.decoding.child FD`. In: a configuration, then batches, over the inherited
socket FD. Out: a greeting, then results as they are done. Main thread reads; `config.threads` threads decode."""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from app.decoding.engine import Engine, EngineConfig, Greeting
from app.decoding.request import WindowRequest, WindowResult


def main() -> None:
    # Stopping is the parent's decision: a Ctrl-C or a SIGTERM to the whole group must not end windows that drain.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    connection = Connection(int(sys.argv[1]))
    config: EngineConfig = connection.recv()
    try:
        engine = build_engine(config)
        connection.send(Greeting(engine.fingerprint(), engine.languages()))
    except Exception as error:  # noqa: BLE001 - any failure to load is told to the parent, which decides
        connection.send(f"{type(error).__name__}: {error}")
        return
    serve(engine, config.threads, connection)
    # Nobody waits any more: leave without joining windows that are being decoded.
    os._exit(0)


def build_engine(config: EngineConfig) -> Engine:
    """Load the engine; the model library is imported here and nowhere before, so that the parent never has it."""
    if config.kind == "scripted":
        from app.decoding.scripted import ScriptedEngine

        return ScriptedEngine()
    from app.decoding.whisper import WhisperEngine

    return WhisperEngine(config)


def serve(engine: Engine, count: int, connection: Connection) -> None:
    """Answer (job, batch) with (job, results or the reason why there are none) until the other end is closed."""
    lock = threading.Lock()

    def answer(job: int, batch: list[WindowRequest]) -> None:
        outcome: list[WindowResult] | str
        try:
            outcome = engine.decode(batch)
        except Exception as error:  # noqa: BLE001 - one bad window must not end the process
            outcome = f"{type(error).__name__}: {error}"
        with lock:
            connection.send((job, outcome))

    threads = ThreadPoolExecutor(count, thread_name_prefix="window")
    while True:
        try:
            job, batch = connection.recv()
        except (EOFError, OSError):
            return
        threads.submit(answer, job, batch)


if __name__ == "__main__":
    main()
