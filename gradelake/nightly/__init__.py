"""The unattended night: `gradelake nightly`, and how it is started every night."""

WEBHOOK = "GRADELAKE_WEBHOOK"  # environment: where a summary is posted; a secret
