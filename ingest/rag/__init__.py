"""Logs of RAG systems: what was asked, retrieved and answered, and what a good answer says."""
