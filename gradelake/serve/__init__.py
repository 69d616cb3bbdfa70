"""`gradelake serve`: the lake in the browser. Its pages call the rooms and hold no logic."""
