"""The HTTP face: requests in, JSON out, every error in one envelope."""
