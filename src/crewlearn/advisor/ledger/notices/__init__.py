"""Notices: what a site tells other systems, found with the change that causes it and put in their outbox at once."""
