"""What every room uses: errors, settings, reading and writing files, talking to people."""
