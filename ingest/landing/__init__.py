"""How what somebody brings lands in the lake: known again, refused by row, committed once."""
