"""What a grader is: engine, model, prompt, decoding and parser, under one hash."""
