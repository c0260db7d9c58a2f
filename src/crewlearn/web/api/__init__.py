"""The HTTP API under /api/v1, a router for each noun."""
