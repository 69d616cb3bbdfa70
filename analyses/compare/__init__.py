"""Two systems: which is better, by how much, how surely, and whether missing labels matter."""
