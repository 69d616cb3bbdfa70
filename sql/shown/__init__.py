"""What is shown to people, and how each kind of figure looks."""
