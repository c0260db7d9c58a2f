"""A new site from a file: what its settings may be, what the first advice would be, and setting it up at once."""
