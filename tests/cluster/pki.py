"""Certificates and keys of one control plane: one authority that everybody in it trusts."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID = dt.timedelta(days=365)
_NAMES = ("localhost", "kubernetes.default.svc")
_CLIENTS = {  # file name: (user, group) as the API server reads them
    "admin": ("admin", "system:masters"),
    "etcd-client": ("kube-apiserver", "berth:etcd"),
    "kube-scheduler": ("system:kube-scheduler", "system:authenticated"),
    "kube-controller-manager": ("system:kube-controller-manager", "system:authenticated"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its private key, PEM files both."""

    certificate: Path
    key: Path


def pair(folder: Path, name: str) -> Pair:
    """Return where `make` put the pair called `name`: authority, serving or a client's."""
    return Pair(certificate=folder / f"{name}.crt", key=folder / f"{name}.key")


def account_keys(folder: Path) -> Pair:
    """Return the key that signs ServiceAccount tokens; its certificate is a bare public key."""
    return Pair(certificate=folder / "accounts.pub", key=folder / "accounts.key")


def make(folder: Path) -> None:
    """Write the authority and every pair of the control plane into the new `folder`."""
    folder.mkdir(mode=0o700, parents=True)
    authority = _Authority(folder)
    authority.issue("serving", _name("berth"), ExtendedKeyUsageOID.SERVER_AUTH)
    for name, (user, group) in _CLIENTS.items():
        authority.issue(name, _name(user, group), ExtendedKeyUsageOID.CLIENT_AUTH)
    accounts = account_keys(folder)
    key = _key(accounts.key)
    accounts.certificate.write_bytes(
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )


class _Authority:
    """Signs the certificates of one folder."""

    def __init__(self, folder: Path) -> None:
        files = pair(folder, "authority")
        self._folder = folder
        self._name = _name("berth-control-plane")
        self._key = _key(files.key)
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        _write(files.certificate, self._sign(self._name, self._key, constraints, ()))

    def issue(self, name: str, subject: x509.Name, use: x509.ObjectIdentifier) -> None:
        files = pair(self._folder, name)
        more: list[x509.ExtensionType] = [x509.ExtendedKeyUsage([use])]
        if use == ExtendedKeyUsageOID.SERVER_AUTH:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            more.append(x509.SubjectAlternativeName([address, *map(x509.DNSName, _NAMES)]))
        constraints = x509.BasicConstraints(ca=False, path_length=None)
        _write(files.certificate, self._sign(subject, _key(files.key), constraints, tuple(more)))

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        constraints: x509.BasicConstraints,
        more: tuple[x509.ExtensionType, ...],
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder(subject_name=subject, issuer_name=self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))  # for clocks that were put right
            .not_valid_after(now + _VALID)
            .add_extension(constraints, critical=True)
            .add_extension(_usage(signs=constraints.ca), critical=True)
        )
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        issuers = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        for extension in (own, issuers, *more):
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _name(user: str, group: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group is not None:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _key(file: Path) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    file.touch(mode=0o600)
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return key


def _write(file: Path, certificate: x509.Certificate) -> None:
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
