"""Doing it: Ray workers, each with an engine, whose finished chunks are committed."""
