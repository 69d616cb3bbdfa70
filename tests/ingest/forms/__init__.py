"""Folders of files as other tools write them, and what each of them holds."""
