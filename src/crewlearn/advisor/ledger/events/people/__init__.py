"""Events about people: who they are, what was said of them, and who is at which station."""
