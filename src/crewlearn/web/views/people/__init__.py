"""What the pages show of people."""
