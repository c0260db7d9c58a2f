"""Policies: the contract, the registry, and DR-UCB, value-of-replacement, team policies and baselines."""
