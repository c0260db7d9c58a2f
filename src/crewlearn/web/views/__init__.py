"""View models of the pages: plain values derived from a site's state and record, in words and the site's units."""
