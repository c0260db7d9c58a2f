"""Commands: thin, one file per group; other packages are imported only when a command needs them."""
