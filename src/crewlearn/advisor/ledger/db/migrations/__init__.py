"""Migrations of the store, oldest first."""
