"""The experiments as commands: truncation, determinism, term recall, replay."""
