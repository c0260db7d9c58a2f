"""Backtests: what advice would have brought over the days on record."""
