"""What people type to find something by its words."""


def has_words(text: str, words: str) -> bool:
    """Whether each of these words is in a text, in capitals or not."""
    return all(word in text.lower() for word in words.lower().split())
