"""What the pages show: plain values made from a site's state and record, in people's words and units."""
