#!/usr/bin/env python3
"""What MkDocs asks before it builds: the order of the pages, and what their links lead to.

A new page is there by itself. A link to a file of the repository beside docs/ becomes its name.
"""

import logging
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
LOG = logging.getLogger("mkdocs.plugins.berth")
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List every page, section by section."""
    config.nav = [
        {"Home": "index.md"},
        {"Tutorial": "tutorial.md"},
        {"How to": _pages("how-to")},
        {"Reference": _pages("reference")},
        {"Explanation": [*_pages("explanation"), "architecture.md", "critique.md"]},
        {"Decisions": _pages("decisions")},
    ]
    return config


def _pages(folder: str) -> list[str]:
    pages = (DOCS / folder).glob("*.md")
    ordered = sorted(pages, key=lambda page: (page.stem != "README", page.stem))
    return [str(page.relative_to(DOCS)) for page in ordered]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """Take links out that leave docs/; strict, where there is no such file."""
    here = Path(page.file.abs_src_path or "").parent

    def name(link: re.Match[str]) -> str:
        there = (here / link[2]).resolve()
        root = Path(config.docs_dir).parent
        if there.is_relative_to(config.docs_dir) or not there.is_relative_to(root):
            return link[0]
        if not there.exists():
            LOG.warning("%s links to %s, which is not there", page.file.src_uri, link[2])
        path = f"`{there.relative_to(root)}`"
        return path if link[1].strip("`") in path else f"{link[1]} ({path})"

    return _OUTSIDE.sub(name, markdown)
