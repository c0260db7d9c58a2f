"""Planning: a site's state taken into simulated runs, and a site to look at."""
