"""How a file gets onto the record: read, confirmed, with newcomers and its profile, or from a watched folder."""
