"""The paper's results: upper bounds with their terms, lower bounds, and choices of gamma."""
