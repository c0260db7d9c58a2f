"""Value of replacement: replace where the expected gain over the periods left exceeds the fees."""
