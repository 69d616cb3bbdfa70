"""Pictures: how labels and judgments meet, and how systems score by either."""
