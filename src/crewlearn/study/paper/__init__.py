"""The paper's tables and figures, each as a function from a lab to a part of a study."""
