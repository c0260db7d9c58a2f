"""The ledger: events and their fold, the site's state, and the store that keeps them."""
