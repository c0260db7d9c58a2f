"""Commands for a live site: files, advice and answers, the ledger, plans, users and the server."""
