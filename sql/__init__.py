"""The lake: how it is stored, built, published, asked and looked after."""
