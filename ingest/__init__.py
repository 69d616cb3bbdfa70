"""Brings the world in: topics, passages, runs, responses, judgments, ranks and foreign labels."""
