"""The report: one HTML file per collection that shows what the lake says, without a server."""
