"""The shell of `gradelake sql`: what people type, complete, and see."""
