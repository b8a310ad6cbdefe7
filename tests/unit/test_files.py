"""Files that are replaced under us are seen, as kubelet replaces them too."""

import asyncio
from pathlib import Path

from berth.cluster import files


def _publish(volume: Path, generation: str, text: str) -> None:
    """Write a file as kubelet does on a Secret's volume: a folder, and a link that is swapped."""
    (volume / generation).mkdir()
    (volume / generation / "tls.crt").write_text(text)
    (volume / "..next").symlink_to(generation)
    (volume / "..next").replace(volume / "..data")


def test_the_link_of_a_volume_that_is_swapped_is_seen(tmp_path: Path) -> None:
    """The file's own inode says nothing of it."""
    file = tmp_path / "tls.crt"
    _publish(tmp_path, "..1", "first")
    file.symlink_to("..data/tls.crt")

    async def seen() -> files.Contents:
        changes = files.changes([file], every=0.2)
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        _publish(tmp_path, "..2", "second")
        async with asyncio.timeout(20):
            return await waiting

    assert asyncio.run(seen()) == {file: b"second"}


def test_a_file_that_is_written_again_with_the_same_text_is_no_change(tmp_path: Path) -> None:
    """What counts is the content: the next change is the one to another text."""
    file = tmp_path / "settings.yaml"
    file.write_text("a: 1")

    async def seen() -> files.Contents:
        changes = files.changes([file], every=0.2)
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        file.write_text("a: 1")
        file.unlink()
        async with asyncio.timeout(20):
            return await waiting

    assert asyncio.run(seen()) == {file: None}
