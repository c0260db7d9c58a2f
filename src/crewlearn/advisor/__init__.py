"""The live side: record output, get advice, keep the record."""
