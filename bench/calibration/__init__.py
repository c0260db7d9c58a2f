"""The parts of `make calibrate`: each compares a claim shown to people with the truth of simulated firms."""
