"""Files in and out: tables, cells and columns, imports, dry runs and exports."""
