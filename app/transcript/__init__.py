"""Transcript out: segments on the recording's clock, the receipt, the formats."""
