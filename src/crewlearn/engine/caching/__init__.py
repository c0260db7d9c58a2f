"""Caches of results and compiled code: their keys, and the folder that holds them."""
