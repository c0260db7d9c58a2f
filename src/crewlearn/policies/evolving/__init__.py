"""Value of replacement for people who ramp up and drift, on days that differ."""
