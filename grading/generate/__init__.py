"""A rubric bank written by a model."""
