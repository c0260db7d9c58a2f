"""Commands: thin, one file a group; a room is imported only when its command runs."""
