"""The check-up of a store and the machine around it: what is wrong, and what to do about it."""
