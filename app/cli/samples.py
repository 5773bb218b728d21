"""The sample glossaries and clips that ship with Lexicue, and how they get into a service that starts.
Event loop thread."""

import asyncio
from pathlib import Path

from app.api.state import AppState
from app.decoding.languages import parse_language
from app.errors import NotFound
from app.glossary.term_file import TermFormat, read_terms
from app.telemetry import logger

log = logger(__name__)

SAMPLES = Path(__file__).parents[2] / "samples"
SAMPLE_CLIP = SAMPLES / "clinic.flac"
SAMPLE_GLOSSARY = "clinic"


async def load_samples(state: AppState) -> None:
    """Import each sample glossary that the database does not have yet; one that was edited stays as it is."""
    for file in await asyncio.to_thread(lambda: sorted(SAMPLES.glob("*.csv"))):
        try:
            await state.glossaries.snapshot(file.stem)
        except NotFound:
            read = read_terms(await asyncio.to_thread(file.read_bytes), TermFormat.CSV, parse_language)
            terms = [term for _, term in read.rows]
            await state.glossaries.import_terms(file.stem, terms, actor="sample", create=True)
            log.info("sample glossary loaded", slug=file.stem, terms=len(terms))
