"""What models are asked (one YAML file a prompt), and how their replies are read."""
