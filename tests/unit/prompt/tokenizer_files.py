"""A model folder's `tokenizer.json`, made of the shipped merge tables."""

from array import array
from typing import Any

from tokenizers import pre_tokenizers

from app.prompt.merges import BYTE_ALPHABET, Vocabulary, packed


def tokenizer_json(vocabulary: Vocabulary) -> dict[str, Any]:
    """A `tokenizer.json` as the model folders have it, control tokens included."""
    tokens = list(BYTE_ALPHABET)
    assert sorted(tokens) == sorted(pre_tokenizers.ByteLevel.alphabet())
    table = packed(vocabulary)
    count = len(table) // 4
    planes = [array("B", table[plane * count : (plane + 1) * count]) for plane in range(4)]
    merges = []
    for left_low, left_high, right_low, right_high in zip(*planes, strict=True):
        left, right = tokens[left_high << 8 | left_low], tokens[right_high << 8 | right_low]
        merges.append([left, right])
        tokens.append(left + right)
    control = ["<|endoftext|>", "<|startoftranscript|>", "<|ko|>", "<|0.00|>"]
    return {
        "version": "1.0",
        "added_tokens": [
            {
                "id": len(tokens) + number,
                "content": content,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, content in enumerate(control)
        ],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {token: number for number, token in enumerate(tokens)}, "merges": merges},
    }
