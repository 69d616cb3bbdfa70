"""The lake for models: the query book and SQL over the Model Context Protocol."""
