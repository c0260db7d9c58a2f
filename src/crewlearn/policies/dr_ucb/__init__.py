"""DR-UCB, the paper's policy: timing, selection and pairing, and the policy composed of them."""
