"""Tests run on fixed examples: the same on every machine and every day."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("fixed")
