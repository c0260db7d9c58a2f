"""The paper's tables and figures, each a function that makes a part of a study from a lab."""
