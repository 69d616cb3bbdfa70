"""Keeping a lake healthy: the doctor, upkeep, and the unattended night."""
