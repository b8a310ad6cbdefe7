"""Every code has its sentence in each language, and every place that says it has its facts."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest

import berth
from berth.model.reason import Reason
from berth.words import chinese_causes, english_causes
from berth.words.catalogue import CATALOGUES, ENTRIES, Language
from berth.words.entry import Cause

SOURCES = Path(berth.__file__).parent
CODES = ENTRIES["en"]
VALUES = {"Problem", "Said", "Fault"}


def placeholders(text: str) -> set[str]:
    """Return the names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def facts(code: str, language: Language) -> set[str]:
    """Return the facts that a whole sentence shows."""
    return placeholders("".join(ENTRIES[language][code]))


@pytest.mark.parametrize("language", CATALOGUES)
def test_each_language_says_all_that_english_says(language: Language) -> None:
    """With the same facts, and with a remedy where English has one."""
    assert ENTRIES[language].keys() == CODES.keys()
    for code, (what, fix) in CODES.items():
        said = ENTRIES[language][code]
        assert facts(code, language) == facts(code, "en"), code
        assert (bool(said.what), bool(said.fix)) == (bool(what), bool(fix)), code


def test_chinese_is_chinese() -> None:
    """No sentence was left in English, and none has the marks of one."""
    for code, entry in ENTRIES["zh"].items():
        for text in filter(None, entry):
            bare = re.sub(r"\{.*?\}", "", text)
            han = re.search(r"[\u4e00-\u9fff]", bare)
            assert han or not re.search(r"\w", bare), code
            assert not re.search(r"[,;?!] |: (?!\{(value|soft)\}|1，)|[;.]$", text), code


@pytest.mark.parametrize("causes", [english_causes.CAUSES, chinese_causes.CAUSES])
def test_each_class_has_a_cause_and_a_remedy(causes: Mapping[str, Cause]) -> None:
    """The remedy is in each sentence of the class, or in its cause."""
    catalogue = CATALOGUES["en"]
    entries = {**catalogue.refusals, **catalogue.warnings}
    assert causes.keys() == {code.partition(".")[0] for code in entries}
    for code, entry in entries.items():
        assert entry.fix or causes[code.partition(".")[0]].remedy, code


def test_a_code_has_one_sentence_and_a_sentence_one_code() -> None:
    """No code is in two parts of the catalogue, and no two codes say the same."""
    for catalogue in CATALOGUES.values():
        parts = (catalogue.refusals, catalogue.warnings, catalogue.reasons)
        assert sum(map(len, parts)) == len(catalogue.entries)
        refusals = list(catalogue.refusals.values())
        assert len(set(refusals)) == len(refusals)


def test_a_refusal_begins_with_its_reason_and_ends_with_a_remedy() -> None:
    """The reason, the stable class that metrics count, is the code up to the point."""
    known = {reason.value for reason in Reason}
    assert {code.partition(".")[0] for code in CATALOGUES["en"].refusals} == known
    assert all(fix for _, fix in CATALOGUES["en"].refusals.values())
    assert not {code.partition(".")[0] for code in CATALOGUES["en"].warnings} & known


def test_every_place_gives_the_facts_of_its_sentence() -> None:
    """Read in the source: a sentence that lacks a fact would be found by a user first."""
    seen = set[str]()
    for file in sorted(SOURCES.rglob("*.py")):
        text = file.read_text()
        if not any(f"{maker}(" in text for maker in VALUES):
            continue
        module = ast.parse(text, str(file))
        makers = VALUES | set(_makers(module))
        for call, function in _calls(module, module):
            if not (isinstance(call.func, ast.Name) and call.func.id in makers):
                continue
            where = f"{file}:{call.lineno}"
            for code in _codes(call, function, module, where):
                seen.add(code)
                given = {key for one in _arguments(call) for key in _keys(one, function, module)}
                assert facts(code, "en") <= given, f"{where}: {code} lacks a fact"
    assert CODES.keys() - seen == set(), "said nowhere"


def _calls(node: ast.AST, function: ast.AST) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Yield each call with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, function
        yield from _calls(child, child if isinstance(child, ast.FunctionDef) else function)


def _makers(module: ast.AST) -> Iterator[str]:
    """Yield the module's own functions that take a code."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and "code" in [one.arg for one in node.args.args]:
            yield node.name


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _codes(call: ast.Call, function: ast.AST, module: ast.AST, where: str) -> set[str]:
    """Return the codes that a call may carry; a literal in the place of one has to be one."""
    found = set[str]()
    for argument in _arguments(call):
        for node in _reached(argument, function, module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} & CODES.keys()
    first = next(iter(_arguments(call)), None)
    literal = isinstance(first, ast.Constant | ast.IfExp | ast.Subscript)
    assert found or not literal, f"{where}: no such code"
    return found


def _keys(argument: ast.expr, function: ast.AST, module: ast.AST) -> Iterator[str]:
    for node in _reached(argument, function, module):
        for key in node.keys if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant):
                yield str(key.value)


def _reached(
    start: ast.AST, function: ast.AST, module: ast.AST, seen: frozenset[str] = frozenset()
) -> Iterator[ast.AST]:
    """Yield what an expression is made of, without calls, which are their own.

    A name is what it was set to in the function or the module, an attribute what a property of
    the module returns.
    """
    yield start
    name = getattr(start, "id", None) or getattr(start, "attr", None)
    if name and name not in seen:
        known = seen | {name}
        for value in (*_set_to(name, function), *_set_to(name, module, deep=False)):
            yield from _reached(value, function, module, known)
        for value in _returned(name, module) if isinstance(start, ast.Attribute) else ():
            yield from _reached(value, function, module, known)
    for child in ast.iter_child_nodes(start):
        if not isinstance(child, ast.Call):
            yield from _reached(child, function, module, seen)


def _set_to(name: str, within: ast.AST, *, deep: bool = True) -> Iterator[ast.expr]:
    for node in ast.walk(within) if deep else ast.iter_child_nodes(within):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                yield node.value


def _returned(name: str, module: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for below in ast.walk(node):
                if isinstance(below, ast.Return) and below.value:
                    yield below.value
