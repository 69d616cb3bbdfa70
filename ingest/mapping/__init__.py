"""Columns and paths of rows to what they are to us: query, passage, judgment, answer, ..."""
