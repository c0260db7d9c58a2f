"""Errors of files: collected while a file is read, and told by cause."""
