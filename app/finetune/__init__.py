"""Recordings and their text, decoded once into training shards."""
