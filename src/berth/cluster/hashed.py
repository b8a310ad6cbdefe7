"""Names that must not leave the cluster, as hashes: the same for the same name, and no way back.

The hash is keyed, and the key is forgotten with the process: without it nobody can try likely
names until one fits. What the hardware is, is no name, and stays readable.
"""

from collections.abc import Iterable
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from berth.model.charge import Claim
from berth.model.eligibility import NODE_NAME, Eligibility, Expression, Toleration
from berth.model.node import Node, Taint
from berth.model.request import DeviceRequest, PodRequest

READABLE = (
    *("nvidia.com/", "amd.com/", "feature.node.kubernetes.io/", "node.kubernetes.io/"),
    *("kubernetes.io/arch", "kubernetes.io/os", "hugepages-", "ephemeral-storage"),
)
"""How labels, taints and resources begin that tell of hardware or of Kubernetes itself alone."""
COMPARED = frozenset({"Gt", "Lt"})
"""Operators that need the number, which a hash no longer is."""
_BYTES = 8


class Hashed(msgspec.Struct, frozen=True):
    """Hashes everything that has a name, under one key of 16 to 64 random bytes."""

    key: bytes

    def name(self, text: str) -> str:
        """Hash a name; nothing stays nothing."""
        return blake2b(text.encode(), key=self.key, digest_size=_BYTES).hexdigest() if text else ""

    def node(self, node: Node) -> Node:
        """Hash the names of a node: its own, its labels, taints, resources and cards."""
        return replace(
            node,
            name=self.name(node.name),
            labels=dict(self._label(key, value) for key, value in node.labels.items()),
            taints=tuple(
                Taint(*self._label(one.key, one.value), one.effect) for one in node.taints
            ),
            other=self._other(node.other),
            devices=tuple(replace(one, uuid=self.name(one.uuid)) for one in node.devices),
        )

    def request(self, request: PodRequest) -> PodRequest:
        """Hash the names in what a Pod wants."""
        return replace(
            request,
            other=self._other(request.other),
            devices=tuple((self.name(of), self._device(one)) for of, one in request.devices),
            init_devices=tuple(
                (self.name(of), self._device(one)) for of, one in request.init_devices
            ),
            sidecars=tuple(
                (self.name(of), tuple(map(self.name, beside))) for of, beside in request.sidecars
            ),
            eligibility=self._eligibility(request.eligibility),
        )

    def claim(self, claim: Claim) -> Claim:
        """Hash the names in what a container holds."""
        return replace(claim, container=self.name(claim.container), uuid=self.name(claim.uuid))

    def _device(self, request: DeviceRequest) -> DeviceRequest:
        return replace(
            request,
            uuids=tuple(map(self.name, request.uuids)),
            uuids_not=tuple(map(self.name, request.uuids_not)),
        )

    def _eligibility(self, wish: Eligibility) -> Eligibility:
        terms = tuple(map(self._term, wish.any_of))
        free = any(one and not left for one, left in zip(wish.any_of, terms, strict=True))
        return Eligibility(
            all_of=self._term(wish.all_of),
            any_of=() if free else terms,  # an empty term holds on no node, not on any
            tolerations=tuple(map(self._toleration, wish.tolerations)),
        )

    def _term(self, term: Iterable[Expression]) -> tuple[Expression, ...]:
        """Hash a term, without comparisons of numbers that would be hashes."""
        return tuple(
            self._expression(one)
            for one in term
            if one.operator not in COMPARED or one.key.startswith(READABLE)
        )

    def _expression(self, one: Expression) -> Expression:
        if one.key == NODE_NAME:
            return replace(one, values=tuple(map(self.name, one.values)))
        key, _ = self._label(one.key, "")
        return Expression(
            key, one.operator, tuple(self._label(one.key, value)[1] for value in one.values)
        )

    def _toleration(self, one: Toleration) -> Toleration:
        key, value = self._label(one.key, one.value)
        return replace(one, key=key, value=value)

    def _label(self, key: str, value: str) -> tuple[str, str]:
        if key.startswith(READABLE):
            return key, value
        return self.name(key), self.name(value)

    def _other(self, amounts: dict[str, int]) -> dict[str, int]:
        return {self._label(name, "")[0]: amount for name, amount in amounts.items()}
