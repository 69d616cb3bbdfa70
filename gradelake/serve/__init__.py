"""`gradelake serve`: the lake in the browser. Pages call the rooms, and hold none of their logic."""
