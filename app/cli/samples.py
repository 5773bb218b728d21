"""The sample glossaries and clips that ship with Lexicue, and how they get into a running server. Blocking."""

from http import HTTPStatus
from pathlib import Path

import httpx

from app.telemetry import logger

log = logger(__name__)

SAMPLES = Path(__file__).parents[2] / "samples"
SAMPLE_CLIP = SAMPLES / "clinic.flac"
SAMPLE_GLOSSARY = "clinic"


def load_samples(url: str) -> None:
    """Import each sample glossary that the server does not have yet; one that was edited stays as it is."""
    with httpx.Client(base_url=url, timeout=30) as client:
        for file in sorted(SAMPLES.glob("*.csv")):
            if client.get(f"/glossaries/{file.stem}").status_code != HTTPStatus.NOT_FOUND:
                continue
            client.post(
                f"/glossaries/{file.stem}/terms:import",
                content=file.read_bytes(),
                params={"create": "true"},
                headers={"Content-Type": "text/csv"},
            ).raise_for_status()
            log.info("sample glossary loaded", slug=file.stem)
