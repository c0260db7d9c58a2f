"""Events about advice, and the answers to it."""
