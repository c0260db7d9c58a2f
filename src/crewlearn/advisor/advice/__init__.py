"""Advice: deriving it, answering it, and what it was worth."""
