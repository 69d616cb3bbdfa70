"""Questions to the lake: SQL statements, the query book, the shell."""
