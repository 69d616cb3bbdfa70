"""`gradelake start`: a gradelake.toml of what a folder's files are seen to be."""
