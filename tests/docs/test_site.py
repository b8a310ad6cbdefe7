"""The pages as a site, built as scripts/site does."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs.fences import ROOT


def _build(root: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    wanted = ["--config-file", str(root / "mkdocs.yml"), "--site-dir", str(folder)]
    return subprocess.run([*command, *wanted], capture_output=True, text=True, check=False)


def test_it_is_built_without_a_broken_link(tmp_path: Path) -> None:
    """Each page, and nothing from elsewhere: it can be read from disk."""
    done = _build(ROOT, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {page.relative_to(tmp_path).with_suffix("") for page in tmp_path.rglob("*.html")}
    sources = {page.relative_to(ROOT / "docs").with_suffix("") for page in _sources()}
    readmes = {page.with_name("index") for page in sources if page.name == "README"}
    assert pages >= {page for page in sources if page.name != "README"} | readmes
    elsewhere = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?//')
    assert not [page for page in tmp_path.rglob("*.html") if elsewhere.search(page.read_text())]


def _sources() -> list[Path]:
    return list((ROOT / "docs").rglob("*.md"))


def test_a_link_that_leads_nowhere_fails_it(tmp_path: Path) -> None:
    """To a page, to a heading of one, or to a file beside docs/."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for one in (ROOT / "mkdocs.yml", ROOT / "docs/site_pages.py"):
        shutil.copy(one, tmp_path / one.relative_to(ROOT))
    for page in ("index", "architecture", "critique"):
        (docs / f"{page}.md").write_text("# One\n")
    links = "[a](nowhere.md) [b](index.md#nothing) [c](../gone.md)"
    (docs / "tutorial.md").write_text(f"# Other\n\n{links}\n")
    done = _build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "nowhere.md" in said
    assert "#nothing" in said
    assert "../gone.md, which is not there" in said
    (docs / "tutorial.md").write_text("# Other\n\n[b](index.md#one) [c](../mkdocs.yml)\n")
    assert _build(tmp_path, tmp_path / "site").returncode == 0
