"""Where our CAs are kept: a Secret that the replicas share, or a folder outside a cluster.

Both are read and written as a whole, and only over what was read: of two that write at once one
is told that it came second, and reads again. The key of a leaf is never kept.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import msgspec

from berth.certs import bundle
from berth.certs.rotation import Stored
from berth.errors import UsageError

STATE = "authorities.json"
TRUSTED = "ca.crt"
"""The PEM bundle for callers, where cert-manager's cainjector looks for it too."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is kept, if anything, and the version to write over; "" where no place is yet."""

    stored: Stored | None
    version: str


class Store(Protocol):
    """A place that the replicas share."""

    async def read(self) -> Held:
        """Read what is kept. Raises UsageError."""

    async def write(self, stored: Stored, over: Held) -> bool:
        """Write over what was read; False where it is another by now. Raises UsageError."""


@dataclass(frozen=True, slots=True)
class SecretStore:
    """The Secret `name`; its key `authorities.json` holds all, the keys of the CAs too."""

    kubeconfig: Path | None
    namespace: str
    name: str

    async def read(self) -> Held:
        """Read the Secret."""
        from berth.cluster import kube  # noqa: PLC0415  the Kubernetes client is slow to import

        found = await kube.secret(kube.configuration(self.kubeconfig), self.namespace, self.name)
        if found is None:
            return Held(None, "")
        content = found.data.get(STATE)
        return Held(_decoded(content, f"Secret {self.namespace}/{self.name}"), found.version)

    async def write(self, stored: Stored, over: Held) -> bool:
        """Create the Secret, or change it where its resourceVersion is still the one read."""
        from berth.cluster import kube  # noqa: PLC0415  the Kubernetes client is slow to import

        wanted = kube.KeptSecret(_files(stored), over.version)
        config = kube.configuration(self.kubeconfig)
        return await kube.write_secret(config, (self.namespace, self.name), wanted)


@dataclass(frozen=True, slots=True)
class FileStore:
    """A folder, for processes on one machine."""

    folder: Path

    async def read(self) -> Held:
        """Read the file."""
        with self._told():
            return self._read()

    async def write(self, stored: Stored, over: Held) -> bool:
        """Swap the files for new ones, where they are still what was read."""
        with self._told():
            self.folder.mkdir(parents=True, exist_ok=True)
            # This file stays: who removed it would let two lock two.
            with (self.folder / ".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if self._read().version != over.version:
                    return False
                for name, content in _files(stored).items():
                    self._swap(name, content)
        return True

    def _read(self) -> Held:
        file = self.folder / STATE
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return Held(None, "")
        return Held(_decoded(content, str(file)), sha256(content).hexdigest())

    def _swap(self, name: str, content: bytes) -> None:
        """Put a file in place whole: callers read the bundle, and the owner alone the keys."""
        half = self.folder / f".{name}.new"
        half.unlink(missing_ok=True)
        half.touch(mode=0o600)
        half.write_bytes(content)
        if name == TRUSTED:
            half.chmod(0o644)
        half.replace(self.folder / name)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UsageError(
                f"{error.filename or self.folder}: cannot be used: {error.strerror}; "
                "set certificates.folder to a folder that can be written"
            ) from None


def trusted(stored: Stored) -> bytes:
    """Return the PEM bundle of all CAs that are still needed."""
    return bundle.join(one.certificate for one in stored.trusted)


def _files(stored: Stored) -> dict[str, bytes]:
    return {TRUSTED: trusted(stored), STATE: msgspec.json.encode(stored)}


def _decoded(content: bytes | None, place: str) -> Stored | None:
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Stored)
    except msgspec.MsgspecError as error:
        raise UsageError(
            f"{place}: {STATE} is not what Berth wrote: {error}; delete it, and a new CA is made"
        ) from None
