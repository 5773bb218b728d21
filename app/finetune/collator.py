"""Rows of a prepared set to a training batch. In: rows as `datasets` gives them. Out: tensors as
`WhisperForConditionalGeneration` takes them. Any thread; needs torch, which whoever trains has."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

# Positions that the loss passes over, by torch's and transformers' convention.
IGNORED = -100


class WhisperCollator:
    """For `Trainer(data_collator=...)` or `DataLoader(collate_fn=...)`. The first label is `<|startoftranscript|>`,
    which the model puts in front itself: it is taken away, as transformers expects."""

    def __call__(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """`input_features` float32 (rows, mels, 3000); `labels` int64 (rows, longest), padded with -100."""
        torch = importlib.import_module("torch")
        targets = [np.asarray(row["labels"], dtype=np.int64)[1:] for row in rows]
        labels = np.full((len(rows), max(map(len, targets))), IGNORED, dtype=np.int64)
        for line, target in zip(labels, targets, strict=True):
            line[: len(target)] = target
        features = np.stack([np.asarray(row["input_features"], dtype=np.float32) for row in rows])
        return {"input_features": torch.from_numpy(features), "labels": torch.from_numpy(labels)}
