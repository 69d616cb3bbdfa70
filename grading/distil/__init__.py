"""Rubrics of labels, distilled by a model from judged pairs (TRUE)."""
