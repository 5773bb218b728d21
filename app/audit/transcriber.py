"""The seam between audits and what is audited: a server behind a URL, the bare library, or a stub. Blocking."""

from pathlib import Path
from typing import Protocol

from app.audit.probe import Answer, Ask


class Transcriber(Protocol):
    """What is audited. `name` is shown in reports and binds a journal to it. Safe to call from several threads."""

    name: str

    def transcribe(self, audio: Path, ask: Ask) -> Answer:
        """Blocking. Raises NotReady when nobody answers."""
        ...
