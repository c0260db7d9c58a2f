"""Exports as they come: what a file holds is found out, told in sentences, and read by a plan."""
