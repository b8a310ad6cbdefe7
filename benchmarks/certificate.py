"""A self-signed certificate for the servers of one run."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificate:
    """The PEM files of a certificate and its private key."""

    certificate: Path
    key: Path

    def client(self) -> ssl.SSLContext:
        """Return a client's context that trusts only this certificate and speaks only TLS 1.3."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return context


def make_certificate(folder: Path) -> Certificate:
    """Write an EC P-256 key and a one-day certificate for 127.0.0.1 into the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "benchmark")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    files = Certificate(folder / "tls.crt", folder / "tls.key")
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pem = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, *pem))
    return files
