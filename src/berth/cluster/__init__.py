"""What is true in the cluster: all that talks to the API server."""
