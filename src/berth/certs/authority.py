"""Certificate authorities of our own, and the leaves that they sign: EC P-256."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from berth.certs.rotation import BACK_DATED
from berth.errors import UsageError

AUTHORITY_LIFE = timedelta(days=3650)
LEAF_LIFE = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Pair:
    """A leaf (or chain) with its key and the authorities to trust, each as PEM."""

    certificate: bytes
    key: bytes
    authority: bytes


def issue(names: tuple[str, ...], now: datetime) -> Pair:
    """Make an authority and a leaf for `names` (DNS names or addresses), valid from `now`.

    The key of the authority is forgotten. Raises UsageError for a name that no certificate holds.
    """
    certificate, key = make(now, now + AUTHORITY_LIFE)
    return sign((certificate, key), names, now, now + LEAF_LIFE)


def make(now: datetime, ends: datetime) -> tuple[bytes, bytes]:
    """Make an authority, and return its certificate and its key as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    # The names of two authorities must differ, or a verifier would try one's key for the other.
    serial = x509.random_serial_number()
    name = _name(f"berth webhook CA {serial:x}"[:64])
    certificate = (
        _builder(name, name, key.public_key(), (now, ends))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pem(certificate), _key_pem(key)


def sign(ca: tuple[bytes, bytes], names: tuple[str, ...], now: datetime, ends: datetime) -> Pair:
    """Make a leaf for `names` with a new key, signed by `ca` (certificate and key, PEM).

    Raises UsageError for a name that no certificate can hold.
    """
    issuer = x509.load_pem_x509_certificate(ca[0])
    ca_key = cast("ec.EllipticCurvePrivateKey", serialization.load_pem_private_key(ca[1], None))
    key = ec.generate_private_key(ec.SECP256R1())
    # A common name holds 64 characters and nobody reads it: the names are in the extension.
    leaf = (
        _builder(_name("berth webhook"), issuer.subject, key.public_key(), (now, ends))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([_general_name(entry) for entry in names]), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )
    return Pair(_pem(leaf), _key_pem(key), ca[0])


def life(certificate: bytes) -> tuple[datetime, datetime]:
    """Return when the first certificate of a PEM chain begins and ends. Raises ValueError."""
    leaf = x509.load_pem_x509_certificate(certificate)
    return leaf.not_valid_before_utc, leaf.not_valid_after_utc


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    life: tuple[datetime, datetime],
) -> x509.CertificateBuilder:
    begins, ends = life
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins - BACK_DATED)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        pass  # no address, so a name
    try:
        return x509.DNSName(name)
    except ValueError:
        raise UsageError(
            f"{name!r} cannot stand in a certificate; write a DNS name in ASCII (xn--… for others) "
            "in server.dnsNames or registration.url"
        ) from None
