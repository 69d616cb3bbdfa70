"""Faults injected into nights of a small lake, with a seed, and what became of each."""
