"""How large numbers in requests may be."""

MOST_NUMBER = 2**31 - 1
"""The largest whole number in a form, a path or a cursor, as databases have them."""
