#!/usr/bin/env python3
"""The order of the site's pages, which MkDocs asks for. A new page is there by itself."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

DOCS = Path(__file__).parent


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
