"""The model: the problem, its laws, the roster and its transitions."""
