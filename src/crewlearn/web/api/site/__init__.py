"""The API of one site and of the list of sites."""
