"""DR-UCB, the paper's policy, composed of rules for timing, selection and pairing."""
