"""The fenced blocks of the pages, which are what a reader copies."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """One block."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        """Say where it is, as the id of a test."""
        return f"{self.page}:{self.line}"


def every(*languages: str) -> list[Fence]:
    """Return the blocks in some languages, or all."""
    found = [fence for page in PAGES for fence in of(page)]
    return [one for one in found if not languages or one.language in languages]


def of(page: Path) -> Iterator[Fence]:
    """Yield the blocks of a page."""
    text = page.read_text()
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Fence(str(page.relative_to(ROOT)), line, match[1], match[2])


def scripts(page: Path) -> list[tuple[Fence, str | None]]:
    """Return the `sh` blocks of a page, each with its output: the `text` right after it, if any."""
    blocks, text = list(of(page)), page.read_text()
    found = []
    for block, after in pairwise([*blocks, None]):
        if block and block.language == "sh":
            adjacent = after and f"```sh\n{block.text}```\n\n```text\n{after.text}```" in text
            found.append((block, after.text if after and adjacent else None))
    return found


def matches(promised: str, said: str) -> bool:
    """Whether an output is as promised, where `…` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in promised.strip().split("…"))
    return re.fullmatch(pattern, said.strip(), re.DOTALL) is not None
