"""Rubric banks: files of questions and nuggets, read in several forms and written back."""
