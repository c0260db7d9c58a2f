"""Errors as problem documents and pages; each names the field, the value and the remedy."""
