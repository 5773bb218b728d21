"""Who edits a glossary, on top of which revision. In: a request. Out: an Edit. Event loop thread."""

from typing import Annotated

from fastapi import Depends, Request

from app.api.glossary_schemas import IfMatch, parse_if_match
from app.glossary.editor import Edit


def edit_of(request: Request, if_match: IfMatch = None) -> Edit:
    """The actor is set by authentication (`request.state.actor`); without it nobody is known."""
    return Edit(getattr(request.state, "actor", "anonymous"), parse_if_match(if_match))


EditOf = Annotated[Edit, Depends(edit_of)]
