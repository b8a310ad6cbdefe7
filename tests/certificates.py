"""Authorities and the certificates that they sign, for callers in tests."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from berth import clock

PEM = serialization.Encoding.PEM
_LIFE = timedelta(days=1)


@dataclass(frozen=True)
class Issued:
    """A certificate and its private key, PEM files both."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates into a folder; signed by another, it is an intermediate one."""

    def __init__(self, folder: Path, name: str, above: "Authority | None" = None) -> None:
        """Make the authority `name`."""
        self.file = folder / f"{name}.crt"
        self._folder, self._name = folder, _name(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        signed = (above or self)._sign(self._name, self._key, (constraints,), _LIFE)
        self.file.write_bytes(signed.public_bytes(PEM))

    def issue(self, common: str, *dns: str, uri: str = "", life: timedelta = _LIFE) -> Issued:
        """Sign a client's certificate with these names."""
        names: list[x509.GeneralName] = [x509.DNSName(name) for name in dns]
        names += [x509.UniformResourceIdentifier(uri)] if uri else []
        use = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        more = (use, x509.SubjectAlternativeName(names)) if names else (use,)
        key = ec.generate_private_key(ec.SECP256R1())
        stem = self._folder / f"{self.file.stem}-{common}"
        issued = Issued(stem.with_suffix(".crt"), stem.with_suffix(".key"))
        signed = self._sign(_name(common), key, more, life)
        issued.certificate.write_bytes(signed.public_bytes(PEM))
        issued.key.touch(mode=0o600)
        issued.key.write_bytes(
            key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        return issued

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        extensions: tuple[x509.ExtensionType, ...],
        life: timedelta,
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder(subject_name=subject, issuer_name=self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(clock.now() - 2 * _LIFE)
            .not_valid_after(clock.now() + life)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(self._key, hashes.SHA256())


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
