"""The ledger: events, the state of a site as a fold over them, and the store."""
