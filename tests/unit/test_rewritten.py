"""The expressions of the backstop, before an API server sees them."""

from dataclasses import replace

from berth import layered
from berth.admission import configuration, rewritten
from berth.admission.rules import Rules
from berth.dialects.options import Options

NVIDIA = configuration.rules(layered.settings(None), None)[0].vendors[0]


def _rules(*names: str) -> Rules:
    vendors = tuple(replace(NVIDIA, name=name) for name in names)
    return Rules(options=Options(vendors=vendors, scheduler_name="s"))


def test_each_vendor_has_variables_of_its_own_whatever_its_name() -> None:
    """Chips are named in the device-config, with signs that CEL takes for operators."""
    names = ("Ascend-910B", "Ascend_910B", "910B", "x.y/z")
    found = rewritten.variables(_rules(*names))
    assert all(name.isidentifier() and name.isascii() for name in found)
    assert len([name for name in found if name.startswith("asks_")]) == len(names)


def test_a_variable_is_made_of_those_before_it() -> None:
    """The API server knows no later ones."""
    before: set[str] = set()
    for name, expression in rewritten.variables(_rules("a", "b")).items():
        used = {part.split(".")[1] for part in _words(expression) if part.startswith("variables.")}
        assert used <= before
        before.add(name)


def _words(expression: str) -> list[str]:
    return "".join(c if c.isalnum() or c in "._" else " " for c in expression).split()
