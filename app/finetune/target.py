"""What the model is to say: labels as training computes them. In: a model's tokenizer, text, language, task. Out: ids
with control tokens around them, and the way back. Reads the model's folder at construction; any thread after that."""

import json
import unicodedata
from functools import cached_property
from pathlib import Path

from tokenizers import Tokenizer

from app.decoding.languages import LANGUAGES, parse_language
from app.decoding.request import Task
from app.errors import InvalidRequest, NotReady
from app.finetune.entries import Reason, Rejected
from app.glossary.control_tokens import spells_control_token
from app.prompt.tokens import WhisperTokens

MAX_LABELS = 448
_FIRST_MULTILINGUAL_END = 50257


class Target:
    """`WhisperTokenizer` of transformers for one task: the same ids, without the library (docs/adr/0070)."""

    def __init__(self, tokenizer_file: Path, task: Task) -> None:
        """Raises NotReady for a file that is not a Whisper tokenizer, InvalidRequest for a translation task of a
        model that has none."""
        self._text = WhisperTokens.from_file(tokenizer_file)
        added = json.loads(tokenizer_file.read_text(encoding="utf-8"))["added_tokens"]
        self._controls = {token["content"]: int(token["id"]) for token in added}
        self._file = tokenizer_file
        try:
            self._end = self._controls["<|endoftext|>"]
            self._start = self._controls["<|startoftranscript|>"]
            self._untimed = self._controls["<|notimestamps|>"]
        except KeyError as error:
            raise NotReady(f"{tokenizer_file} has no {error.args[0]} token.", code="bad_tokenizer") from None
        self._task = task
        self._multilingual = self._end >= _FIRST_MULTILINGUAL_END
        if not self._multilingual and task is Task.TRANSLATE:
            raise InvalidRequest("An English-only model cannot be trained to translate.", param="task")

    def labels(self, text: str, language: str) -> list[int]:
        """`<|startoftranscript|>`, language, task, `<|notimestamps|>`, the text, `<|endoftext|>`: at most 448 ids.

        Raises Rejected for text that is empty, spells a control token, is too long, or whose language is missing or
        not the model's.
        """
        words = clean_text(text)
        ids = [*self._prefix(language), *self._text.encode(words), self._end]
        if len(ids) > MAX_LABELS:
            raise Rejected(Reason.TEXT_TOO_LONG, f"{len(ids)} of {MAX_LABELS} tokens")
        return ids

    def text(self, labels: list[int]) -> str:
        """The words of labels, without control tokens."""
        decoded: str = self._reader.decode(labels, skip_special_tokens=True)
        return decoded

    @cached_property
    def _reader(self) -> Tokenizer:
        """Only checks read labels; reading the file once more takes a worker as long as seven recordings."""
        return Tokenizer.from_file(str(self._file))

    def is_sound(self, labels: list[int]) -> bool:
        """Whether these ids are what `labels` would give for the text that they decode to."""
        languages = [code for code in LANGUAGES if self._controls.get(f"<|{code}|>") in labels[1:2]]
        if self._multilingual and not languages:
            return False
        prefix = self._prefix(languages[0] if languages else "en")
        body = self._text.encode(self.text(labels))
        return len(body) > 0 and labels == [*prefix, *body, self._end] and len(labels) <= MAX_LABELS

    def _prefix(self, language: str) -> list[int]:
        code = language_code(language)
        if not self._multilingual:
            if code != "en":
                raise Rejected(Reason.UNKNOWN_LANGUAGE, f"the model knows English only, not {code}")
            return [self._start, self._untimed]
        spoken = self._controls.get(f"<|{code}|>")
        if spoken is None:
            raise Rejected(Reason.UNKNOWN_LANGUAGE, f"the model does not know {code}")
        return [self._start, spoken, self._controls[f"<|{self._task.value}|>"], self._untimed]


def clean_text(text: str) -> str:
    """Composed characters (NFC), white space single, none at the ends. Raises Rejected for text that is empty, holds
    other control characters or half a surrogate pair, or spells a control token."""
    cleaned = " ".join(unicodedata.normalize("NFC", text).split())
    if not cleaned:
        raise Rejected(Reason.NO_TEXT)
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in cleaned):
        raise Rejected(Reason.BAD_TEXT, "control characters")
    if spells_control_token(cleaned):
        raise Rejected(Reason.CONTROL_TOKEN)
    return cleaned


def language_code(language: str) -> str:
    """Whisper's code. Raises Rejected for none and for an unknown one."""
    try:
        code = parse_language(language)
    except InvalidRequest:
        raise Rejected(Reason.UNKNOWN_LANGUAGE) from None
    if code is None:
        raise Rejected(Reason.NO_LANGUAGE)
    return code


def mel_bands(model: Path) -> int:
    """80 or 128, as the model in this folder wants: by its own settings, else by its vocabulary, which has Cantonese
    only from large-v3 on."""
    for name, key in (("preprocessor_config.json", "feature_size"), ("config.json", "num_mel_bins")):
        file = model / name
        if file.is_file():
            bands = json.loads(file.read_text(encoding="utf-8")).get(key)
            if bands is not None:
                return int(bands)
    return 128 if "<|yue|>" in (model / "tokenizer.json").read_text(encoding="utf-8") else 80
