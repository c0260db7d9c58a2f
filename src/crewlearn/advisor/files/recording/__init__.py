"""Between a file's rows and the record: what is held for confirmation, the team that output shows, and taking back."""
