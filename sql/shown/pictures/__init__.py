"""Pictures: a Vega-Lite spec of each kind, whose slots files and the report's page fill alike."""
