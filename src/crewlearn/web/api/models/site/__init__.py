"""What the routes of sites take and answer."""
