"""Events about a site as a whole: its settings, its days, and how its files are read."""
