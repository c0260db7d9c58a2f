"""Playing blocks on more than the threads of one process: on processes of this machine, or on a cluster."""
