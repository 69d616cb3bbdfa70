"""Brings the world in: collections, rubric banks, and people's edits of a rubric."""
