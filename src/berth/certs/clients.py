"""Certificates that callers show."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from berth.certs import identity
from berth.errors import UsageError


@dataclass(slots=True)
class ClientAuthorities:
    """Who may sign the certificates of callers: a PEM bundle, as it was when it last was good."""

    file: Path
    bundle: bytes | None = None

    def take(self) -> bool:
        """Read the file, and say whether that is news.

        Raises UsageError for one that cannot be used; what was good before is kept.
        """
        try:
            found = self.file.read_bytes()
            if found == self.bundle:
                return False
            _trust(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), found)
        except OSError as error:  # an SSLError is one
            why = error.strerror or str(error)
            raise UsageError(
                f"callers.clientCaFile: {self.file} cannot be used: {why}; it must hold PEM "
                "certificates"
            ) from None
        self.bundle = found
        return True

    def require(self, context: ssl.SSLContext) -> None:
        """Have a server's `context` ask for certificates of the authorities in the bundle.

        A certificate of another authority ends the handshake; none at all does not, as the probes
        have none. Where contexts are swapped by name (SNI), the one that listens needs this too:
        OpenSSL takes the wish to ask from there, and the authorities from the other.
        """
        _trust(context, self.bundle or b"")
        context.verify_mode = ssl.CERT_OPTIONAL
        # An intermediate authority may stand in the file without the root that signed it.
        context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_PARTIAL_CHAIN
        # A resumed session is not verified again: neither its dates nor, with new files, its
        # authority. So TLS 1.3 resumes none, and TLS 1.2 none by ticket (admission.door sees to
        # the others).
        context.num_tickets = 0
        context.options |= ssl.OP_NO_TICKET


def _trust(context: ssl.SSLContext, bundle: bytes) -> None:
    with identity.as_file(bundle) as file:
        context.load_verify_locations(cafile=file)
