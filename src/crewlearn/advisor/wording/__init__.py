"""The advisor's words for people and programs: explanations, narration and JSON documents."""
