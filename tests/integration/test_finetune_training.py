"""A Whisper with random weights learns from a prepared set: twenty real steps of torch, through the collator."""

from pathlib import Path

import pytest
from finetune_clips import make_clips, options

from app.finetune.collator import IGNORED, WhisperCollator
from app.finetune.prepare import prepare

torch = pytest.importorskip(
    "torch",
    reason="torch is not in the lock, its wheel being gigabytes; to run this: "
    ".venv/bin/python -m pip install torch && .venv/bin/pytest tests/integration/test_finetune_training.py",
)

STEPS = 20


def test_the_loss_falls_over_twenty_steps(tmp_path: Path) -> None:
    from datasets import load_from_disk
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    prepare(make_clips(tmp_path / "clips", 18), str(tmp_path / "set"), options(validation=0.0), lambda told: None)
    rows = load_from_disk(str(tmp_path / "set"))["train"].with_format("numpy")
    batch = WhisperCollator()([rows[0], rows[1]])
    assert batch["input_features"].shape == (2, 80, 3000)
    assert batch["labels"][0, 0] == 50259  # English: the start token is the model's own business
    assert set(batch["labels"][:, -1].tolist()) <= {50257, IGNORED}

    torch.manual_seed(7)
    torch.set_num_threads(1)
    layers = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    config = WhisperConfig(d_model=64, encoder_ffn_dim=128, decoder_ffn_dim=128, **layers)
    model = WhisperForConditionalGeneration(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    batches = torch.utils.data.DataLoader(rows, batch_size=8, collate_fn=WhisperCollator())
    losses: list[float] = []
    for _ in range(STEPS // 2):
        for batch in batches:
            loss = model(**batch).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    assert len(losses) == STEPS
    assert sum(losses[-3:]) < 0.8 * sum(losses[:3]), losses
