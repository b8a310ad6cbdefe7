"""A certificate on a Secret's volume, replaced as kubelet and cert-manager replace it."""

import shutil
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from berth import clock
from berth.certs import authority
from berth.certs.authority import Pair

HOUR = timedelta(hours=1)


@dataclass
class Volume:
    """Links through a folder that is swapped; all leaves are of one CA until `ca` is another."""

    folder: Path
    ca: tuple[bytes, bytes] = field(
        default_factory=lambda: authority.make(clock.now(), clock.now() + HOUR)
    )
    generation: int = 0

    def replace_authority(self) -> None:
        """Have another CA sign from now on."""
        self.ca = authority.make(clock.now(), clock.now() + HOUR)

    def pair(self, life: timedelta = HOUR) -> Pair:
        """Make a leaf of the one CA that ends after `life`."""
        return authority.sign(self.ca, ("127.0.0.1",), clock.now() - HOUR, clock.now() + life)

    def publish(self, pair: Pair) -> Pair:
        """Put a pair there."""
        self.generation += 1
        name = f"..{self.generation}"
        (self.folder / name).mkdir(parents=True)
        content = {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": pair.authority}
        for file, data in content.items():
            (self.folder / name / file).write_bytes(data)
        (self.folder / "..next").symlink_to(name)
        (self.folder / "..next").replace(self.folder / "..data")
        for file in content:
            if not (self.folder / file).is_symlink():
                (self.folder / file).symlink_to(f"..data/{file}")
        if self.generation > 1:
            shutil.rmtree(self.folder / f"..{self.generation - 1}")
        return pair

    def flags(self) -> list[str]:
        """Return what has the webhook read it."""
        return [
            *("--cert-file", str(self.folder / "tls.crt")),
            *("--key-file", str(self.folder / "tls.key")),
            *("--set", f"server.caFile={self.folder / 'ca.crt'}"),
        ]
