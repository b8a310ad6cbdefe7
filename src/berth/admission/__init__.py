"""On CREATE: what the API server asks of us and what we answer."""
