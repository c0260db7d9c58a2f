"""Inference about workers from observations: counts and sums, confidence radii, and the pool posterior."""
