"""What a grader has still to do, and in which chunks."""
