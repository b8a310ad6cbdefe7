"""The volume of a Secret or a ConfigMap, written as kubelet writes it."""

from collections.abc import Mapping
from pathlib import Path

_DATA = "..data"


def publish(volume: Path, files: Mapping[str, bytes]) -> None:
    """Put the files in place all at once: a new folder, and a link to it that is swapped."""
    volume.mkdir(exist_ok=True)
    generation = volume / f"..generation-{len(list(volume.glob('..generation-*')))}"
    generation.mkdir()
    for name, content in files.items():
        (generation / name).write_bytes(content)
        if not (volume / name).is_symlink():
            (volume / name).symlink_to(f"{_DATA}/{name}")
    (volume / "..next").symlink_to(generation.name)
    (volume / "..next").replace(volume / _DATA)
