"""Certificates that others make, as files: a person's, or cert-manager's Secret as a volume."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from berth import clock
from berth.certs import authority, bundle
from berth.certs.authority import Pair
from berth.certs.registered import Registered
from berth.certs.rotation import Terms
from berth.certs.source import Turn
from berth.errors import UsageError
from berth.settings import Server


@dataclass(slots=True)
class Given:
    """The files of server.certFile, server.keyFile and server.caFile."""

    certificate: Path
    key: Path
    authority: Path
    terms: Terms
    in_use: Pair | None = None

    async def turn(self, in_use: Pair | None, registered: Registered) -> Turn:
        """Read the files; a new pair is shown once the API server trusts whoever signed it."""
        self.in_use = in_use
        found, now = self._read(), clock.now()
        trusted = bundle.join([*bundle.split(found.authority), *_vouching(in_use)])
        again = now + self.terms.check
        if found == in_use:
            return Turn(None, trusted, again)
        if in_use is None or _life(in_use)[1] <= now:
            return Turn(found, trusted, again)
        begins, ends = _life(found)
        if not begins <= now < ends:
            raise UsageError(
                f"{self.certificate}: is valid from {begins:%F %T} to {ends:%F %T} UTC, not now; "
                "the certificate before it is shown on"
            )
        settled = self._settled(_new(found, in_use), registered, now)
        if settled <= now:
            return Turn(found, trusted, again)
        return Turn(None, trusted, min(again, settled))

    async def trusted(self, found: Collection[str]) -> bytes:
        """Return what vouches for our pairs, and what other replicas may still need of `found`."""
        ours = [*bundle.split(self._read().authority), *_vouching(self.in_use)]
        return bundle.merged(bundle.join(ours), found, clock.now())

    @property
    def watched(self) -> Sequence[Path]:
        """The three files."""
        return (self.certificate, self.key, self.authority)

    def _settled(self, new: Collection[str], registered: Registered, now: datetime) -> datetime:
        """Say from when on the API server trusts all `new` CAs."""
        if registered.seen is None or not new:
            return now
        if not all(one in registered.seen for one in new):
            return now + timedelta(days=1)  # or when it is seen there, which rings
        return max(registered.seen[one] for one in new) + self.terms.settle

    def _read(self) -> Pair:
        certificate, key, trusted = (_content(file) for file in self.watched)
        return Pair(certificate, key, trusted)


def given(server: Server, terms: Terms) -> Given:
    """Return the source that the settings name."""
    certificate = Path(server.cert_file)
    return Given(certificate, Path(server.key_file), Path(server.ca_file or certificate), terms)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


def _life(pair: Pair) -> tuple[datetime, datetime]:
    try:
        return authority.life(pair.certificate)
    except ValueError:
        raise UsageError("the certificate is not PEM, or a part of it only") from None


def _vouching(pair: Pair | None) -> list[str]:
    return list(bundle.split(pair.authority)) if pair else []


def _new(found: Pair, in_use: Pair) -> list[str]:
    """Return the CAs that vouch for `found` and did not for `in_use`."""
    return [one for one in _vouching(found) if one not in _vouching(in_use)]
