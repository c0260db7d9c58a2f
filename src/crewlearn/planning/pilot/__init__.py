"""Pilots: a random comparison of advice with usual practice, planned from a site's own record and analysed once."""
