"""Simulation: random worlds, and runs of policies in them."""
