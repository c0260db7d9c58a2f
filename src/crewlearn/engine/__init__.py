"""Simulated years: the world's randomness, and runs of policies in it."""
