"""Windows in, segments out: every window alone, always the same answer."""
