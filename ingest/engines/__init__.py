"""Search engines that are asked over HTTP: settings, asking, reading what they answered."""
