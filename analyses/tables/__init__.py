"""Tables for papers: agreement, leaderboards and their correlation, as LaTeX, CSV or JSON."""
