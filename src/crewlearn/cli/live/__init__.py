"""Commands for live sites: files, advice and answers, the ledger, plans, users and the server."""
