"""Files that are replaced under us are seen, as kubelet replaces them too."""

import asyncio
import contextlib
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


def test_who_waits_for_a_change_is_idle(tmp_path: Path) -> None:
    """No thread of it wakes more than a few times a second: a busy machine makes it fewer."""

    async def woken() -> int:
        waiting = asyncio.ensure_future(anext(files.changes([tmp_path / "settings.yaml"], 60)))
        await asyncio.sleep(0.2)
        before = _wakes()
        await asyncio.sleep(1)
        woken = _wakes() - before
        waiting.cancel()
        await asyncio.wait([waiting])
        return woken

    assert asyncio.run(woken()) < 25


def _wakes() -> int:
    """Return how often threads of this process went to sleep by themselves."""
    found = 0
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            status = (task / "status").read_text()
            found += int(status.split("voluntary_ctxt_switches:")[1].split()[0])
    return found
