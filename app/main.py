"""Composition root. In: Settings. Out: an application whose parts know each other by constructor arguments only.
Start order is the order of dependence; stop order is its reverse. Event loop thread."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import Depends, FastAPI
from fastapi.security import HTTPBearer

from app.api import glossaries, health, openai, prompt, transcriptions
from app.api.access import Access
from app.api.error_handlers import install_error_handlers
from app.api.forms import FormLimits
from app.api.idempotency import RememberedAnswers
from app.api.keys import parse_keys
from app.api.middleware import BodyLimit, RequestContext
from app.api.openapi import DescribedApp
from app.api.security_headers import Cors, SecurityHeaders, parse_origins
from app.api.state import AppState
from app.api.upload_limits import UploadLimits
from app.audio.metrics import AudioMetrics
from app.db import Database
from app.db_metrics import DatabaseMetrics
from app.decoding.batching import BatchPolicy
from app.decoding.cores import available_cores
from app.decoding.dispatcher import Dispatcher
from app.decoding.engine import EngineConfig
from app.decoding.metrics import DecodingMetrics
from app.decoding.model_files import resolve_model
from app.errors import LexicueError, NotReady
from app.glossary.metrics import GlossaryMetrics
from app.glossary.store import GlossaryStore
from app.pipeline import TranscriptionPipeline
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner
from app.prompt.relevance_metrics import RelevanceMetrics
from app.prompt.term_indexes import TermIndexes
from app.prompt.tokens import WhisperTokens
from app.prompt.window_terms import WindowTermsChooser
from app.second_pass import SecondPasses
from app.settings import Settings
from app.telemetry import StageTimer, Telemetry, logger
from app.tracing import open_tracing

log = logger(__name__)

DESCRIPTION = """Transcription spelled with *your* words. A glossary becomes a Whisper prompt that never overflows,
always carries the most important terms, is the same for the same data, and says what it cost."""


def create_app(
    settings: Settings,
    *,
    on_start: Callable[[AppState], Awaitable[None]] | None = None,
    on_failure: Callable[[LexicueError], None] | None = None,
) -> FastAPI:
    """The service. Nothing is started before the lifespan runs. `on_start` runs when all parts do and before requests
    are answered; a failure to start ends the lifespan, and `on_failure` is told the reason. Raises InvalidRequest for
    keys or origins that cannot be read."""
    release = version("lexicue")
    telemetry = Telemetry(version=release, tracing=open_tracing(settings.traces, version=release))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(telemetry.tracing.close)
            try:
                state = await _start(settings, telemetry, stack)
                if on_start is not None:
                    await on_start(state)
                app.state.lexicue = state
            except LexicueError as error:
                log.critical("cannot start", reason=error.message)
                if on_failure is not None:
                    on_failure(error)
                raise
            yield
            app.state.lexicue = None

    # A redirect to the route without its slash would be built from what the request says its host is.
    app = DescribedApp(
        title="Lexicue", version=release, description=DESCRIPTION, lifespan=lifespan, redirect_slashes=False
    )
    app.state.form_limits = FormLimits(settings.max_form_fields, settings.max_form_field_bytes)
    _guard(app, settings, telemetry)
    install_error_handlers(app)
    bearer = Depends(HTTPBearer(auto_error=False, description="A key; needed once the server has keys."))
    for module in (transcriptions, openai, prompt, glossaries):
        app.include_router(module.router, dependencies=[bearer])
    app.include_router(health.router)
    telemetry.expect(app.openapi()["paths"])
    return app


def _guard(app: FastAPI, settings: Settings, telemetry: Telemetry) -> None:
    """What a request passes before it reaches a route: the last one added sees it first."""
    origins = parse_origins(settings.cors_origins or "")
    app.add_middleware(BodyLimit, max_bytes=settings.max_upload_bytes)
    app.add_middleware(
        UploadLimits,
        max_uploads=settings.max_uploads,
        stall_seconds=settings.stall_seconds,
        min_bytes_per_second=settings.min_upload_bytes_per_second,
    )
    app.add_middleware(
        Access, keys=parse_keys(*settings.keys()), metrics_need_key=settings.metrics_need_key, origins=origins
    )
    if origins:
        app.add_middleware(Cors, origins=origins)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(RequestContext, telemetry=telemetry)


async def _start(settings: Settings, telemetry: Telemetry, stack: AsyncExitStack) -> AppState:
    """Database, schema, model, in this order; each step is one log line that a person can follow."""
    timer = StageTimer()
    with timer.stage("database"):
        log.info("starting the database", embedded=settings.database_url is None)
        database = await _open_database(settings, stack)
        telemetry.registry.register(DatabaseMetrics(database))
    with timer.stage("model files"):
        log.info("looking for the model", model=settings.model)
        model_path = await asyncio.to_thread(_model_path, settings)
        counter = await asyncio.to_thread(WhisperTokens.from_file, model_path / "tokenizer.json")
    prompt_metrics = PromptMetrics(
        telemetry.registry, budget=settings.prompt_budget, glossaries=settings.metrics_glossaries
    )
    planner = PromptPlanner(counter, default_budget=settings.prompt_budget, metrics=prompt_metrics)
    chooser = WindowTermsChooser(planner, TermIndexes())
    with timer.stage("model"):
        log.info("loading the model", device=settings.device, compute_type=settings.compute_type)
        config = _engine_config(settings, model_path)
        dispatcher = Dispatcher(
            config,
            DecodingMetrics(telemetry.registry, queue_limit=settings.max_pending_audio_seconds),
            max_pending_audio_seconds=settings.max_pending_audio_seconds,
            policy=BatchPolicy(max_windows=config.batch_windows, scope=settings.batch_scope),
            devices=settings.devices(),
            recycle_after=settings.recycle_after_windows,
        )
        stack.push_async_callback(dispatcher.stop, settings.drain_seconds)
        await dispatcher.start()
    store = GlossaryStore(database, tail_check=planner.check_tail, metrics=GlossaryMetrics(telemetry.registry))
    pipeline = TranscriptionPipeline(
        store,
        planner,
        dispatcher,
        AudioMetrics(telemetry.registry),
        SecondPasses(chooser, counter, RelevanceMetrics(telemetry.registry)),
        max_audio_seconds=settings.max_audio_seconds,
        deadline_seconds=settings.deadline_seconds,
        store_request_words=settings.store_request_words,
        tracing=telemetry.tracing,
    )
    stack.callback(pipeline.close)
    answers = RememberedAnswers(seconds=settings.idempotency_seconds, max_bytes=settings.idempotency_bytes)
    stack.push_async_callback(answers.close)
    log.info("ready", fingerprint=dispatcher.fingerprint, seconds=timer.seconds)
    return AppState(
        database=database,
        glossaries=store,
        planner=planner,
        chooser=chooser,
        dispatcher=dispatcher,
        pipeline=pipeline,
        telemetry=telemetry,
        model_name=settings.model,
        answers=answers,
    )


async def _open_database(settings: Settings, stack: AsyncExitStack) -> Database:
    """The database at the newest schema. Raises NotReady that names the setting which leads to the trouble."""
    url = settings.database_url.get_secret_value() if settings.database_url else None
    try:
        database = await Database.open(
            url,
            settings.data_dir,
            pool_size=settings.database_pool_size,
            pool_timeout=settings.database_pool_timeout_seconds,
        )
        stack.push_async_callback(database.close)
        await database.migrate()
    except OSError as error:
        raise NotReady(f"LEXICUE_DATA_DIR: the folder cannot be used ({error.strerror}).") from None
    except LexicueError as error:
        setting = "LEXICUE_DATABASE_URL" if url else "LEXICUE_DATA_DIR"
        raise NotReady(f"{setting}: {error.message}", code=error.code) from None
    return database


def _model_path(settings: Settings) -> Path:
    return resolve_model(settings.model, settings.model_cache())


def _engine_config(settings: Settings, model_path: Path) -> EngineConfig:
    on_cpu = settings.device == "cpu"
    return EngineConfig(
        kind=settings.engine,
        model_path=model_path,
        device=settings.device,
        compute_type=settings.compute_type,
        workers=settings.workers or (available_cores() if on_cpu else 1),
        spare_workers=1 if on_cpu else 0,
        beam_size=settings.beam_size,
        batch_windows=settings.batch_windows or (1 if on_cpu else 8),
        encoder_pad_seconds=settings.encoder_pad_seconds,
    )
