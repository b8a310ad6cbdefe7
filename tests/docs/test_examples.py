"""Every example of the pages is what it says, as far as that shows without a cluster."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
import yaml

from berth import layered, settings
from berth.admission import configuration, mutate, templates
from berth.cli import main
from berth.model.decision import Verdict
from berth.observe.metrics import Metrics
from tests.cluster import build
from tests.docs import fences, running
from tests.docs.fences import ROOT, Fence

LANGUAGES = {
    "yaml": "a manifest, Berth's settings or HAMi's device-config",
    "sh": "runs, and says what the `text` after it promises",
    "console": "commands in a cluster of the reader's own",
    "text": "an output, a picture",
    "promql": "expressions over our metrics",
}
OTHERS = {
    "AdmissionConfiguration": "kube-apiserver reads it from a file",
    "Config": "a kubeconfig",
    "Certificate": "cert-manager's",
}
TUTORIAL = "docs/tutorial.md"
"""Its shell blocks need a control plane: test_tutorial.py runs them."""
GROUPS = {field.encode_name for field in msgspec.structs.fields(settings.Settings)}


def documents(fence: Fence) -> list[dict[str, Any]]:
    """Return what a YAML block holds."""
    return [one for one in yaml.safe_load_all(fence.text) if one]


@pytest.mark.parametrize("fence", fences.every(), ids=str)
def test_a_block_says_what_it_is(fence: Fence) -> None:
    """By its language, so that none escapes these tests."""
    assert fence.language in LANGUAGES


@pytest.mark.parametrize("fence", fences.every("yaml"), ids=str)
def test_yaml_is_taken(fence: Fence, tmp_path: Path) -> None:
    """A manifest is decided as the page says (`# refused`); a configuration is taken whole."""
    for document in documents(fence):
        if "kind" not in document:
            file = tmp_path / "some.yaml"
            file.write_text(yaml.safe_dump(document))
            ours = document.keys() <= GROUPS
            loaded = layered.settings(file if ours else None)
            configuration.rules(loaded, None if ours else file)
        elif document["kind"] not in OTHERS:
            assert document["apiVersion"]
            for template in templates.find(document):
                rules, _ = configuration.rules(settings.Settings(), None)
                decision = mutate.decide(template.pod, "default", rules)
                refused = fence.text.startswith("# refused")
                assert (decision.verdict is Verdict.REFUSED) == refused, decision.reasons


SHELL = [page for page in fences.PAGES if fences.scripts(page)]


@pytest.mark.parametrize(
    "page",
    [page for page in SHELL if str(page.relative_to(ROOT)) != TUTORIAL],
    ids=lambda page: page.name,
)
def test_a_shell_block_says_what_is_promised(page: Path, tmp_path: Path) -> None:
    """All of a page in one shell, in a folder with nothing but the examples."""
    running.check(page, tmp_path, {}, **{".venv/bin/berth": "berth"})


def commands(fence: Fence) -> list[list[str]]:
    """Return each command of a block, its words; a pipe or a redirection ends it."""
    found = []
    for line in fence.text.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        for start in (index for index, word in enumerate(words) if word == "berth"):
            rest = words[start + 1 :]
            ends = [index for index, word in enumerate(rest) if word[0] in "|>&…"]
            found.append(rest[: ends[0]] if ends else rest)
    return found


@pytest.mark.parametrize("fence", fences.every("console"), ids=str)
def test_a_command_has_the_options_that_it_is_given(fence: Fence) -> None:
    """Whatever `berth …` stands in a block for the reader's own cluster is parsed by it."""
    for words in commands(fence):
        name, *rest = words
        command = main.main.get_command(click.Context(main.main), name)
        assert command is not None, words
        while isinstance(command, click.Group) and not (
            command.invoke_without_command and rest[:1] not in [[one] for one in command.commands]
        ):
            command, rest = command.commands[rest[0]], rest[1:]
        context = click.Context(command)
        _, left, _ = command.make_parser(context).parse_args(list(rest))
        assert not left or any(isinstance(one, click.Argument) for one in command.params)


@pytest.mark.parametrize("fence", fences.every("promql"), ids=str)
def test_an_expression_is_about_metrics_that_exist(fence: Fence) -> None:
    """By the name that a scrape shows, and the labels it has."""
    known = {}
    for metric in Metrics().all():
        for suffix in ("", "_total", "_bucket", "_count", "_sum"):
            known[metric.name + suffix] = {*metric.labels, "le"}
    for name, labels in re.findall(r"\b((?:hami_webhook|berth)_\w+)(?:\{(.*?)\})?", fence.text):
        assert name in known
        assert set(re.findall(r"(\w+)=", labels)) <= known[name]


LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_a_link_beside_the_site_leads_somewhere(page: str) -> None:
    """Of the pages that the site's build does not look at."""
    for target in LINK.findall((ROOT / page).read_text()):
        assert (ROOT / target).exists(), target


def test_the_readme_says_which_kubernetes_is_tested() -> None:
    """The one that the tests build, and the Python that the package asks for."""
    text = (ROOT / "README.md").read_text()
    assert set(re.findall(r"v1\.\d+\.\d+", text)) == {build.version()}
    (python,) = re.findall(r'requires-python = ">=(.*)"', (ROOT / "pyproject.toml").read_text())
    assert f"| Python | {python} | {python} or newer" in text
