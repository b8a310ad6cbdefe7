"""The two clauses of a refusal's sentence, for tests that ask for one of them."""

from berth.model import said
from berth.model.problem import Problem
from berth.words.catalogue import ENTRIES


def what(problem: Problem) -> str:
    """Return what is wrong, without the path: "16Gi is more MiB than any card has"."""
    return _shown(problem, ENTRIES["en"][problem.code].what)


def fix(problem: Problem) -> str:
    """Return what to do, in the imperative: "write 16384"."""
    return _shown(problem, ENTRIES["en"][problem.code].fix)


def _shown(problem: Problem, clause: str) -> str:
    return clause.format_map(said._shown(problem.facts, "en"))
