"""The log of replies: what models were asked, and what came back."""
