"""What observations tell about people: counts and sums, confidence radii, and the pool posterior."""
