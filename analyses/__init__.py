"""What SQL cannot say or write by itself: what leaves the lake for people and other tools."""
