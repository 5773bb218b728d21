"""The glossary routes on a real database, without the stations that need a model."""

from typing import Any, cast

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from app.api import glossaries
from app.api.error_handlers import install_error_handlers
from app.api.state import AppState
from app.db import Database
from app.glossary.store import GlossaryStore
from app.prompt.metrics import PromptMetrics
from app.prompt.planner import PromptPlanner


class CharacterTokens:
    """One token a character: planning without a model."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text]


def build_app(db: Database) -> FastAPI:
    planner = PromptPlanner(CharacterTokens(), default_budget=40, metrics=PromptMetrics(CollectorRegistry()))
    state = AppState(
        database=db,
        glossaries=GlossaryStore(db, tail_check=planner.check_tail),
        planner=planner,
        chooser=cast(Any, None),
        dispatcher=cast(Any, None),
        pipeline=cast(Any, None),
        telemetry=cast(Any, None),
        model_name="none",
        answers=cast(Any, None),
    )
    app = FastAPI()
    install_error_handlers(app)
    app.include_router(glossaries.router)
    app.state.lexicue = state
    return app
