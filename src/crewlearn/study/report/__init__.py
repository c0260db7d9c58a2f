"""Reports: text tables, figures, and the HTML page."""
