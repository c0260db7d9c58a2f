"""A site's pages."""
