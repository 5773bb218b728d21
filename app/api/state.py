"""What a route may reach: the running parts, typed, put together once in main.py. Event loop thread."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from app.api.idempotency import RememberedAnswers
from app.db import Database
from app.decoding.dispatcher import Dispatcher
from app.errors import NotReady
from app.glossary.store import GlossaryStore
from app.pipeline import TranscriptionPipeline
from app.prompt.planner import PromptPlanner
from app.prompt.window_terms import WindowTermsChooser
from app.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class AppState:
    database: Database
    glossaries: GlossaryStore
    planner: PromptPlanner
    chooser: WindowTermsChooser
    dispatcher: Dispatcher
    pipeline: TranscriptionPipeline
    telemetry: Telemetry
    model_name: str
    answers: RememberedAnswers


def app_state(request: Request) -> AppState:
    """The running parts; NotReady while the service starts or has stopped."""
    state: AppState | None = getattr(request.app.state, "lexicue", None)
    if state is None:
        raise NotReady("The service is starting; try again in a moment.")
    return state


State = Annotated[AppState, Depends(app_state)]
