"""The limit: an upper bound on what any policy can earn; `docs/theory/limit.md` derives it."""
