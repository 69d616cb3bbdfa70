"""The raw schema, as numbered SQL files that are each applied once."""
