"""Is it alive, may it have work, what are its numbers. In: nothing. Out: statuses and the metrics page. Event loop
thread."""

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.api.state import State

router = APIRouter(tags=["operations"])


@router.get("/livez", summary="Alive: restart the process when this is not 200")
async def livez(state: State) -> JSONResponse:
    """503 when the model worker keeps dying and a restart of the service is the way out."""
    alive = state.dispatcher.healthy
    return JSONResponse({"alive": alive}, status_code=200 if alive else 503)


@router.get("/readyz", summary="Ready: send it work only when this is 200")
async def readyz(state: State) -> JSONResponse:
    """Ready = schema at head, model warm, the canary decode passed. A database that went away later does not make
    it unready: the last good glossaries are served and marked stale."""
    ready = state.dispatcher.ready
    return JSONResponse({"ready": ready, "checks": {"model": ready}}, status_code=200 if ready else 503)


@router.get("/health", summary="One page for people: what runs and how it is")
async def health(state: State) -> dict[str, object]:
    return {
        "ready": state.dispatcher.ready,
        "alive": state.dispatcher.healthy,
        "model": state.model_name,
        "fingerprint": state.dispatcher.fingerprint,
        "fingerprint_details": state.dispatcher.fingerprint_details,
        "database": await state.database.at_head(),
    }


@router.get("/metrics", summary="Prometheus metrics", response_class=Response)
async def metrics(state: State) -> Response:
    return Response(generate_latest(state.telemetry.registry), media_type=CONTENT_TYPE_LATEST)
