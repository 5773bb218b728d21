"""The `lexicue` command."""
