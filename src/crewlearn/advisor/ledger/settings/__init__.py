"""What a site is set up as: its configuration, units and calendar."""
