"""A Postgres of our own for machines that have none; imports nothing of the rest but errors."""
