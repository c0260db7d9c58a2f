"""Events about output, and what a site learns from it."""
