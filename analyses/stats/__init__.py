"""What SQL cannot say about labels and leaderboards: intervals, significance, estimates."""
