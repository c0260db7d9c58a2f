"""What the advisor says to people and programs: explanations, narration and documents."""
