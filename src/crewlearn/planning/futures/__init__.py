"""Futures: worlds drawn from what a record tells, in which policies are played from what they have learned."""
