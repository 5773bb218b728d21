"""Every setting, its default and unit. In: environment variables LEXICUE_* and a `.env` file. Out: one typed,
frozen object. Read by main.py and cli/ only; everything else is handed plain values."""

from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.errors import InvalidRequest


class Settings(BaseSettings):
    """Field descriptions are the documentation: `.env.example` is held against them by a test."""

    model_config = SettingsConfigDict(env_prefix="LEXICUE_", env_file=".env", extra="ignore", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    app_keys: SecretStr | None = Field(
        None,
        description="Keys that may transcribe, comma-separated: name=secret, name@glossary=secret, name=sha256:HEX.",
    )
    ops_keys: SecretStr | None = Field(None, description="Keys that may do everything, written like the above.")
    metrics_need_key: bool = Field(False, description="Whether GET /metrics needs an ops key, once there are keys.")
    allow_anyone: bool = Field(False, description="Whether to listen beyond this machine without any key.")
    cors_origins: str | None = Field(
        None, description="Origins whose pages may call, comma-separated, * for all; unset: none."
    )

    data_dir: Path = Field(Path("data"), description="Folder for the embedded Postgres.")
    cache_dir: Path | None = Field(None, description="Folder for assembled models; the user's cache folder if unset.")
    database_url: SecretStr | None = Field(
        None, description="postgresql://user:password@host/database; unset starts an embedded Postgres."
    )
    database_pool_size: int = Field(5, ge=1, le=100, description="Connections kept open.")
    database_pool_timeout_seconds: float = Field(5, gt=0, description="Longest wait for a connection, then 503.")

    model: str = Field("bundled", description="`bundled` (Whisper base), a local folder, or a hub name.")
    device: Literal["cpu", "cuda"] = Field("cpu", description="Where the model runs.")
    device_index: str = Field("0", pattern=r"^\d+(,\d+)*$", description="GPU numbers, comma-separated.")
    compute_type: str = Field("int8", description="CTranslate2 compute type: int8, float16, float32, ...")
    engine: Literal["whisper", "scripted"] = Field("whisper", description="`scripted` answers without a model.")
    workers: int | None = Field(
        None, ge=1, le=256, description="Batches decoded side by side; unset: one a core, one a GPU."
    )
    batch_windows: int | None = Field(None, ge=1, le=64, description="Windows in one batch; unset: 1, 8 on a GPU.")
    beam_size: int = Field(1, ge=1, le=10, description="Hypotheses kept side by side while decoding; 1 is greedy.")
    encoder_pad_seconds: float = Field(
        5, ge=0, le=30, description="Silence after the speech that the encoder sees; 30 is the reference."
    )
    batch_scope: Literal["request", "shared"] = Field(
        "request", description="Whether windows of different requests may share a batch."
    )

    recycle_after_windows: int | None = Field(
        None, ge=1, description="Windows after which a model process is replaced by a fresh one; unset: never."
    )

    prompt_budget: int = Field(223, ge=1, le=223, description="Prompt tokens for one window; Whisper reads 223.")

    store_request_words: bool = Field(
        False, description="Whether prompts with words of a request are kept for GET /prompts/{sha256}."
    )

    max_pending_audio_seconds: float = Field(7200, gt=0, description="Backlog over which requests get 429, seconds.")
    max_upload_bytes: int = Field(200 * 1024 * 1024, ge=1, description="Largest upload, bytes.")
    max_uploads: int = Field(128, ge=1, description="Uploads that may arrive at once; over it 429.")
    stall_seconds: float = Field(
        20, gt=0, le=3600, description="Longest silence of a client that sends a request or reads an answer, seconds."
    )
    min_upload_bytes_per_second: int = Field(
        500, ge=1, description="Slowest upload, over all of it after the first stall_seconds; below it 408."
    )
    max_header_bytes: int = Field(32 * 1024, ge=4096, description="Longest request line and headers, bytes.")
    max_form_fields: int = Field(500, ge=16, le=10_000, description="Most fields in one form.")
    max_form_field_bytes: int = Field(32 * 1024, ge=1024, description="Largest form field that is not a file, bytes.")
    idempotency_seconds: float = Field(
        3600, ge=0, le=86_400, description="Time for which an answer is kept under its Idempotency-Key, seconds."
    )
    idempotency_bytes: int = Field(
        16 * 1024 * 1024, ge=0, description="Answers kept under Idempotency-Keys for one caller, bytes."
    )
    max_audio_seconds: float = Field(7200, gt=0, description="Longest recording, seconds.")
    deadline_seconds: float | None = Field(
        None,
        gt=0,
        le=86_400,
        description="Longest time that one request may take to decode, then 504; unset: no limit.",
    )
    drain_seconds: float = Field(
        20, ge=0, le=86_400, description="Time for admitted requests to finish when stopping, seconds."
    )

    log_format: Literal["console", "json"] = Field("console", description="Shape of the log lines.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least severe level logged.")

    metrics_glossaries: int = Field(
        20, ge=0, le=1000, description="Glossaries whose headroom is shown by name, those with the least."
    )
    traces: bool = Field(
        False, description="Whether spans are sent over OTLP (extra `otel`); the OTEL_* variables say where to."
    )

    @field_validator("database_url", mode="before")
    @classmethod
    def _empty_is_unset(cls, value: object) -> object:
        return None if value == "" else value

    def model_cache(self) -> Path:
        """Where assembled models are kept."""
        return self.cache_dir or platformdirs.user_cache_path("lexicue")

    def keys(self) -> tuple[str, str]:
        """Keys for apps and for ops, as they were written."""
        app, ops = (keys.get_secret_value() if keys else "" for keys in (self.app_keys, self.ops_keys))
        return app, ops

    def devices(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.device_index.split(","))


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment. Raises InvalidRequest naming each bad variable, never its value."""
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        problems = "; ".join(
            f"LEXICUE_{'_'.join(map(str, item['loc'])).upper()}: {item['msg']}"
            for item in error.errors(include_input=False)
        )
        raise InvalidRequest(f"Bad settings. {problems}", code="bad_settings") from None
