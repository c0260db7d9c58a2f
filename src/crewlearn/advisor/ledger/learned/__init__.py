"""What policies that learn by day have learned at a site, stored beside its record."""
