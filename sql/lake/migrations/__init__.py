"""Numbered SQL files that bring the raw tables of an older lake up to date; 010 is the first."""
