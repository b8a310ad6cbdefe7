"""Which nodes a Pod accepts by their labels, and which taints it tolerates: Kubernetes' rules."""

import msgspec

NODE_NAME = "metadata.name"
"""As a key: the node's name, which `matchFields` asks for."""
OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
"""Kubernetes' words."""


class Expression(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One requirement on a label; the operator is Kubernetes' word."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


class Toleration(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A taint that does not keep the Pod away. No key is every key, no effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Eligibility(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The node selector, required node affinity and tolerations of a Pod."""

    all_of: tuple[Expression, ...] = ()
    """The node selector, each label as `In` one value."""
    any_of: tuple[tuple[Expression, ...], ...] = ()
    """The terms of required affinity, of which one must hold; none is no requirement."""
    tolerations: tuple[Toleration, ...] = ()


ANYWHERE = Eligibility()
