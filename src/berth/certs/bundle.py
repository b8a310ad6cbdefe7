"""PEM bundles of certificates, as sets: white space, comments and order mean nothing in them."""

import re
from collections.abc import Iterable
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def split(pem: bytes) -> dict[str, x509.Certificate]:
    """Return the certificates by their PEM text, each once; what cannot be read is left out."""
    found = {}
    for block in _BLOCK.findall(pem):
        try:
            certificate = x509.load_pem_x509_certificate(block)
        except ValueError:
            continue
        found[certificate.public_bytes(Encoding.PEM).decode()] = certificate
    return found


def join(certificates: Iterable[str]) -> bytes:
    """Write a bundle, each certificate once, in the order given."""
    return "".join(dict.fromkeys(certificates)).encode()


def ends(pem: bytes, now: datetime) -> datetime | None:
    """Return when the first certificate of a bundle ends that has not; None for an empty bundle.

    Who has ended vouches for nobody and is only to be swept out; where all have, the last counts.
    """
    every = [one.not_valid_after_utc for one in split(pem).values()]
    return min((end for end in every if end > now), default=max(every, default=None))


def merged(ours: bytes, theirs: Iterable[str], now: datetime) -> bytes:
    """Return our certificates, and behind them those of theirs that have not ended.

    What another replica still needs stays so: as cert-manager's cainjector merges (its 1.21).
    """
    mine = split(ours)
    lasting = [
        text
        for text in sorted(theirs)
        for certificate in split(text.encode()).values()
        if text not in mine and certificate.not_valid_after_utc > now
    ]
    return join([*mine, *lasting])
