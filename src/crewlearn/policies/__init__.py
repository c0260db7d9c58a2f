"""Policies: the contract they serve, the three rules, DR-UCB composed of them, and the two ends of the scale."""
