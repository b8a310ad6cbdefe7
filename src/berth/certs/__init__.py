"""The certificates that the server shows."""
