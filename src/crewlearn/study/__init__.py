"""Studies: the paper's tables and figures by name, families of instances, the leaderboard, and reports."""
