"""Terms: what they are, how they compare, where they are kept."""
