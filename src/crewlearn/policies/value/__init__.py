"""Value of replacement: replace if the expected gain over the remaining periods exceeds the fees."""
