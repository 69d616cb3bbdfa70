"""A collection's topics, passages, runs, responses, judgments, ranks and foreign labels."""
