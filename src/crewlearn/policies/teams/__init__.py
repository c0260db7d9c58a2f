"""Policies that name a desired team each period, and the rules they share."""
