"""Reports: tables of text, figures, and the page that holds them."""
