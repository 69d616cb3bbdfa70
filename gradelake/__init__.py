"""Evaluate retrieval and generation systems with LLM grades, in SQL."""
