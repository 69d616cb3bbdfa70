"""Turns (query, passage, rubric item) into grades."""
