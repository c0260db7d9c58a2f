"""Pilots on record: the sealed plan of analysis, the random assignment, and a pilot under way at a site."""
