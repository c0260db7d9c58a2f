"""Where a file's cells come from: CSV text, or a sheet of a workbook."""
