"""How settings read their environment variables, and what their texts mean."""
