"""Anchors of the record outside the database: signed checkpoints, and the key that signs them."""
