"""A certificate authority of our own, and a leaf that it signs, where none are given."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from berth.errors import UsageError

AUTHORITY_LIFE = timedelta(days=3650)
LEAF_LIFE = timedelta(days=365)
BACK_DATED = timedelta(hours=1)  # for nodes whose clocks are behind


@dataclass(frozen=True, slots=True)
class Pair:
    """A leaf with its key and the authority to trust, each as PEM."""

    certificate: bytes
    key: bytes
    authority: bytes


def issue(names: tuple[str, ...], now: datetime) -> Pair:
    """Make an authority and a leaf for `names` (DNS names or addresses), valid from `now`.

    Raises UsageError for a name that no certificate can hold.
    """
    ca_key = ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "berth webhook CA")])
    ca = (
        _builder(ca_name, ca_name, ca_key.public_key(), (now, AUTHORITY_LIFE))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    # A common name holds 64 characters and nobody reads it: the names are in the extension.
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "berth webhook")])
    leaf = (
        _builder(name, ca_name, key.public_key(), (now, LEAF_LIFE))
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
    return Pair(
        certificate=leaf.public_bytes(serialization.Encoding.PEM),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        authority=ca.public_bytes(serialization.Encoding.PEM),
    )


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    life: tuple[datetime, timedelta],
) -> x509.CertificateBuilder:
    now, length = life
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACK_DATED)
        .not_valid_after(now + length)
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
