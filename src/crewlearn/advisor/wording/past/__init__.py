"""Words for what has happened: events, answers and what can be undone, and what advice has brought."""
