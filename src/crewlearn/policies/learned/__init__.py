"""Agents trained by reinforcement learning: what they see of a situation, and the policy that plays them."""
