"""A site's settings: its configuration, units and calendar."""
