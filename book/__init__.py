"""What the book has beside its written pages: generated reference, notebooks and the gallery."""
