"""The demo collection: eight queries, small enough to read."""
