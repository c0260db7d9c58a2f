"""The database beneath the ledger: connections, schema, upgrades and backups."""
