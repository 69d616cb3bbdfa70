"""The questions of the query book, one SQL file each."""
