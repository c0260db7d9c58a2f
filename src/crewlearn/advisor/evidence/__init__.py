"""What replacements have brought: derived from a site's record, with all doubt, and never recorded."""
