"""What people are shown: an answer, and how each kind of figure looks in every form."""
