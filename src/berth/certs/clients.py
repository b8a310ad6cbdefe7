"""Certificates that callers show."""

import ssl

from berth.errors import UsageError


def require_client_ca(context: ssl.SSLContext, file: str) -> None:
    """Have a server's `context` ask for certificates of the authorities in `file`, a PEM bundle.

    A certificate of another authority ends the handshake; none at all does not, as the probes
    have none. Where contexts are swapped by name (SNI), the one that listens needs this too:
    OpenSSL takes the wish to ask from there, and the authorities from the other. Raises UsageError.
    """
    try:
        context.load_verify_locations(cafile=file)
    except OSError as error:  # an SSLError is one
        why = error.strerror or str(error)
        raise UsageError(
            f"callers.clientCaFile: {file} cannot be used: {why}; it must hold PEM certificates"
        ) from None
    context.verify_mode = ssl.CERT_OPTIONAL
    # An intermediate authority may stand in the file without the root that signed it.
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
    # A resumed session is not verified again: neither its dates nor, with new files, its authority.
    # So TLS 1.3 resumes none, and TLS 1.2 none by ticket (admission.door sees to the others).
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
