"""The sample glossaries and clips that ship with Lexicue, and how they get into a running server. Main thread."""

from pathlib import Path

import httpx

from app.cli.client import call

SAMPLES = Path(__file__).parents[2] / "samples"
SAMPLE_CLIP = SAMPLES / "clinic.flac"
SAMPLE_GLOSSARY = "clinic"
