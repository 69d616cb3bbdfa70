"""What can be asked of labels, boards and systems: a small file for each, which makes an answer."""
