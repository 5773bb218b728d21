"""The columns of a prepared set. In: mel bands. Out: their description. Pure; any thread."""

from typing import Any

from app.finetune.mel import FRAMES


def features_of(mels: int) -> dict[str, Any]:
    """The columns in the words of `datasets`: what it puts in a file's schema and in `dataset_info.json`."""
    return {
        "input_features": {"shape": [mels, FRAMES], "dtype": "float16", "_type": "Array2D"},
        "labels": {"feature": {"dtype": "int32", "_type": "Value"}, "_type": "List"},
        "duration": {"dtype": "float32", "_type": "Value"},
        "start": {"dtype": "float32", "_type": "Value"},
        "source": {"dtype": "string", "_type": "Value"},
        "language": {"dtype": "string", "_type": "Value"},
    }
