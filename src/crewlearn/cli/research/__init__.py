"""Commands for researchers: reproduce, simulate, sweep, leaderboard, policies and bounds."""
