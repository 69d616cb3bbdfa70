"""People look at a grader's grades, one at a time, and say whether they agree."""
