"""Rules of the literature that act on the pool posterior: Thompson sampling and the knowledge gradient."""
