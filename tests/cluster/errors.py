"""The one error that a user of the control plane sees."""


class ClusterError(Exception):
    """Building, starting or stopping the control plane failed; the text says what to do next."""
