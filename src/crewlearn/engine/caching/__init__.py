"""What results and compiled code depend on, as hashes, and the folder that keeps them."""
