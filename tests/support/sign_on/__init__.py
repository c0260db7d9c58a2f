"""Providers of single sign-on for tests: a real one, and one that lies."""
