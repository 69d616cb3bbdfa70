"""The lake for models."""
