"""People's edits of a rubric: shown, made in their editor, kept as rows of a CSV file."""
