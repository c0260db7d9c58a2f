"""Planning: a site's state in simulated futures, and the demo site."""
