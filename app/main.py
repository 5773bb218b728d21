"""Composition root. In: Settings. Out: an application whose parts know each other by constructor arguments only.
Start order is the order of dependence; stop order is its reverse. Event loop thread."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path

import platformdirs
from fastapi import FastAPI

from app.api import glossaries, health, prompt, transcriptions
from app.api.error_handlers import install_error_handlers
from app.api.middleware import BodyLimit, RequestContext
from app.api.state import AppState, Limits
from app.audio.metrics import AudioMetrics
from app.db import Database
from app.decoding.dispatcher import Dispatcher
from app.decoding.engine import EngineConfig
from app.decoding.metrics import DecodingMetrics
from app.decoding.model_files import resolve_model
from app.glossary.store import GlossaryStore
from app.pipeline import TranscriptionPipeline
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner
from app.prompt.tokens import WhisperTokens
from app.settings import Settings
from app.telemetry import StageTimer, Telemetry, logger

log = logger(__name__)

DESCRIPTION = """Transcription spelled with *your* words. A glossary becomes a Whisper prompt that never overflows,
always carries the most important terms, is the same for the same data, and says what it cost."""


def create_app(settings: Settings) -> FastAPI:
    """The service. Nothing is started before the lifespan runs; a failure to start ends it with the reason."""
    release = version("lexicue")
    telemetry = Telemetry(version=release)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.lexicue = await _start(settings, telemetry, stack)
            yield
            app.state.lexicue = None

    app = FastAPI(title="Lexicue", version=release, description=DESCRIPTION, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=settings.max_upload_bytes)
    app.add_middleware(RequestContext, telemetry=telemetry)
    install_error_handlers(app)
    for module in (transcriptions, prompt, glossaries, health):
        app.include_router(module.router)
    return app
