"""Grades in the forms of other tools: brought in, and written back."""
