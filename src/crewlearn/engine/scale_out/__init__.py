"""Playing blocks on threads or processes of this machine, or on a cluster."""
