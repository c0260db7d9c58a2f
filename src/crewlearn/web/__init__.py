"""HTTP API and pages over the live advisor and planning; what is decided is decided there, not here."""
