"""Background jobs: the queue in the store, the runner, and the work they do."""
