"""The limit: an upper bound on what any policy can earn; `docs/limit.md` derives it."""
