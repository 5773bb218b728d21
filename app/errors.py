"""Every failure a caller can see, as one tree. In: a message and numbers. Out: an exception that carries its own
HTTP status and stable code, so that no layer above has to translate. Pure; any thread.

    LexicueError
    ├── InvalidRequest 400            a parameter or text that cannot be used
    │   ├── InvalidText               control characters, control tokens, too long, empty
    │   ├── InvalidAudio              bytes that are not audio, or have no audio stream
    │   └── PromptOverBudget          the request's own words do not fit the prompt budget
    ├── Unauthorized 401 · Forbidden 403
    ├── NotFound 404 · MethodNotAllowed 405
    ├── RequestTimeout 408            the client sends too slowly
    ├── Conflict 409                  a twin term, an over-full tail, a taken slug
    ├── PreconditionFailed 412        somebody else edited first
    ├── TooLarge 413                  bytes or seconds over the limit
    ├── Unprocessable 422             the request has another shape than the documented one
    ├── Overloaded 429                carries `retry_after` seconds
    ├── HeadersTooLarge 431
    ├── InternalError 500             a fault of ours; the details are in the log only
    ├── NotReady 503                  starting, draining, or a dependency is away
    └── DeadlineExceeded 504
"""

from typing import ClassVar


class LexicueError(Exception):
    """Base of all errors shown to callers.

    `message` says what to do, never echoes input; `param` names the offending parameter, if one does; `code` is
    stable and documented; `details` are numbers or names that a client may act on.
    """

    status: ClassVar[int] = 500
    type: ClassVar[str] = "server_error"
    default_code: ClassVar[str] = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        details: dict[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code or self.default_code
        self.details = details or {}


class InvalidRequest(LexicueError):
    status = 400
    type = "invalid_request_error"
    default_code = "invalid_request"


class InvalidText(InvalidRequest):
    default_code = "invalid_text"


class InvalidAudio(InvalidRequest):
    default_code = "invalid_audio"


class PromptOverBudget(InvalidRequest):
    default_code = "prompt_over_budget"


class Unauthorized(LexicueError):
    status = 401
    type = "authentication_error"
    default_code = "invalid_api_key"


class Forbidden(LexicueError):
    status = 403
    type = "permission_error"
    default_code = "forbidden"


class NotFound(LexicueError):
    status = 404
    type = "invalid_request_error"
    default_code = "not_found"


class MethodNotAllowed(LexicueError):
    status = 405
    type = "invalid_request_error"
    default_code = "method_not_allowed"


class RequestTimeout(LexicueError):
    status = 408
    type = "invalid_request_error"
    default_code = "request_timeout"


class Conflict(LexicueError):
    status = 409
    type = "invalid_request_error"
    default_code = "conflict"


class PreconditionFailed(LexicueError):
    status = 412
    type = "invalid_request_error"
    default_code = "precondition_failed"


class TooLarge(LexicueError):
    status = 413
    type = "invalid_request_error"
    default_code = "too_large"


class Unprocessable(LexicueError):
    status = 422
    type = "invalid_request_error"
    default_code = "invalid_shape"


class Overloaded(LexicueError):
    """The queue is full; `retry_after` is in whole seconds, at least 1, computed from the backlog."""

    status = 429
    type = "rate_limit_error"
    default_code = "overloaded"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, details={"retry_after": retry_after})
        self.retry_after = retry_after


class HeadersTooLarge(LexicueError):
    status = 431
    type = "invalid_request_error"
    default_code = "headers_too_large"


class InternalError(LexicueError):
    status = 500


class NotReady(LexicueError):
    status = 503
    default_code = "not_ready"


class DeadlineExceeded(LexicueError):
    status = 504
    default_code = "deadline_exceeded"
