"""Reviewing in a browser: the screen of a card, and a form in one file that needs no server."""
