"""Tables as people keep them: their rows, and what their columns are to us."""
