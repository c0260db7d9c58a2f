"""What output tells about people who ramp up and drift, on days that differ for everybody."""
