"""The card of a judge: what it is, and how far it is known to be trustworthy."""
