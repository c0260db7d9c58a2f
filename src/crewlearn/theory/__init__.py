"""What the paper proves: bounds with their terms, lower bounds, and the choices of gamma."""
