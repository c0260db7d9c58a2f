"""HTTP API and pages over the live advisor and planning; it holds no business rules of its own."""
