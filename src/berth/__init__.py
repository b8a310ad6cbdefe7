"""Berth: GPU admission and placement for Kubernetes."""

__version__ = "0.1.0"
