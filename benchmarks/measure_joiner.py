"""Whether `、` between terms costs anything but tokens. In: Japanese and Chinese clips with a spoken brand name, a
prompt of that brand among invented others. Out: brands found, characters wrong, tokens. Run by hand."""

import csv
import json
from pathlib import Path

import platformdirs
from corpus import AUDIO, Clip, clips, errors, rate

from app.decoding.engine import EngineConfig
from app.decoding.model_files import BUNDLED, resolve_model
from app.decoding.request import ANY_LANGUAGE, DecodeOptions, PromptSet, WindowRequest
from app.decoding.whisper import WhisperEngine
from app.prompt.tokens import WhisperTokens

FIXTURES = json.loads(
    (Path(__file__).parents[1] / "tests" / "data" / "tokens" / "fixtures.json").read_text(encoding="utf-8")
)
OTHERS = {
    language: [each["text"] for each in FIXTURES if each["class"] in kinds]
    for language, kinds in {"ja": ("ja_brand", "gen_ja"), "zh": ("zh_brand", "gen_zh")}.items()
}
JOINERS = (", ", "、", " ")


def spoken_brands() -> dict[str, str]:
    with (AUDIO / "manifest.tsv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    return {
        row["file"]: row["note"].split(";")[0].removeprefix("brand=")
        for row in rows
        if row["note"].startswith("brand=") and row["language"] in OTHERS
    }


def main() -> None:
    model = resolve_model(BUNDLED, Path(platformdirs.user_cache_dir("lexicue")))
    counter = WhisperTokens.from_file(model / "tokenizer.json")
    engine = WhisperEngine(EngineConfig(model_path=model))
    brands = spoken_brands()
    found = clips(folders=("synth",), wanted=brands.__contains__)
    everywhere = {
        language: sorted({brands[clip.name] for clip in found if clip.language == language}) for language in OTHERS
    }
    print(f"{'language':<9} {'joiner':<7} {'clips':>5} {'brand found':>12} {'CER':>7} {'tokens':>7}")
    for language in OTHERS:
        spoken = [clip for clip in found if clip.language == language]
        for joiner in (None, *JOINERS):
            prompt = "" if joiner is None else joiner.join([*OTHERS[language], *everywhere[language]])
            ids = tuple(counter.encode(f" {prompt}")) if prompt else ()
            texts = [heard(engine, clip, ids) for clip in spoken]
            hits = sum(brands[clip.name] in text for clip, text in zip(spoken, texts, strict=True))
            error = rate([errors(clip, text) for clip, text in zip(spoken, texts, strict=True)])
            print(f"{language:<9} {joiner!r:<7} {len(spoken):>5} {hits:>12} {error:>7.1%} {len(ids):>7}")


def heard(engine: WhisperEngine, clip: Clip, ids: tuple[int, ...]) -> str:
    options = DecodeOptions(language=clip.language)
    requests = [
        WindowRequest(clip.name, index, samples, PromptSet({ANY_LANGUAGE: ids}), options)
        for index, samples in enumerate(clip.windows)
    ]
    return "".join(segment.text for result in engine.decode(requests) for segment in result.segments)


if __name__ == "__main__":
    main()
