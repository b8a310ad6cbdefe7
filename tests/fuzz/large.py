"""Bodies of a MiB and more: to the byte at the limit, deep, wide, and many of everything."""

import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tests.fuzz import values
from tests.fuzz.case import MIB, MOST, Case

Splice: TypeAlias = Callable[[bytes, tuple[str | int, ...], bytes], bytes]
_SPEC = ("request", "object", "spec")
_MAIN = (*_SPEC, "containers", 0)
_PLACES = (_SPEC, _MAIN, (*_MAIN, "env"), (*_MAIN, "resources", "limits"), (*_MAIN, "args"))
_STATUS = ("request", "object", "status")
_GPU = b'"resources":{"limits":{"nvidia.com/gpu":"%s"}}'


def _list(entry: bytes, count: int) -> bytes:
    """Return a list; `%d` in an entry is its number."""
    entries = (entry % index for index in range(count)) if b"%d" in entry else [entry] * count
    return b"[" + b",".join(entries) + b"]"


def _object(count: int, value: bytes) -> bytes:
    return b"{" + b",".join(b'"k%d":%s' % (index, value) for index in range(count)) + b"}"


KINDS: Mapping[str, tuple[tuple[str | int, ...], Callable[[], bytes]]] = {
    "100,000 variables": ((*_MAIN, "env"), lambda: _list(b'{"name":"E%d","value":"x"}', 100_000)),
    "100,000 twins": (
        (*_MAIN, "env"),
        lambda: _list(b'{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}', 100_000),
    ),
    "100,000 containers": ((*_SPEC, "containers"), lambda: _list(b'{"name":"c%d"}', 100_000)),
    "20,000 containers with a device": (
        (*_SPEC, "containers"),
        lambda: _list(b'{"name":"c%d",' + _GPU % b"1" + b"}", 20_000),
    ),
    "50,000 wrong amounts": (
        (*_SPEC, "containers"),
        lambda: _list(b'{"name":"c%d",' + _GPU % b"-1" + b"}", 50_000),
    ),
    "100,000 volumes": (
        (*_SPEC, "volumes"),
        lambda: _list(b'{"name":"v%d","hostPath":{"path":"/dev/nvidia0"}}', 100_000),
    ),
    "100,000 mounts": (
        (*_MAIN, "volumeMounts"),
        lambda: _list(b'{"name":"data","mountPath":"/%d"}', 100_000),
    ),
    "100,000 tolerations": ((*_SPEC, "tolerations"), lambda: _list(b'{"key":"k%d"}', 100_000)),
    "100,000 annotations": (
        ("request", "object", "metadata", "annotations"),
        lambda: _object(100_000, b'"x"'),
    ),
    "100,000 resources": ((*_MAIN, "resources", "limits"), lambda: _object(100_000, b'"1"')),
    "100,000 levels of lists": (_STATUS, lambda: b"[" * 100_000 + b"]" * 100_000),
    "100,000 levels of objects": (_STATUS, lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "4 MiB of brackets": (_STATUS, lambda: b"[" * (4 * MIB)),
    "a million lists": (_STATUS, lambda: _list(b"[]", MIB)),
    "a million objects, not as Go writes them": (_STATUS, lambda: b" " + _list(b"{}", MIB)),
    "a million numbers": (_STATUS, lambda: _list(b"1.5", MIB)),
    "a million digits": (_STATUS, lambda: b"1" * MIB),
    "a text of 7 MiB": (_STATUS, lambda: b'"%s"' % (b"x" * (7 * MIB))),
    "escapes of 6 MiB": (_STATUS, lambda: b'"%s"' % (b"\\u003c" * MIB)),
    "the last of many keys twice": (
        _STATUS,
        lambda: _object(100_000, b"1")[:-1] + b',"k0":1}',
    ),
    "a quantity of a MiB": (
        (*_MAIN, "resources", "limits", "nvidia.com/gpu"),
        lambda: b'"%s"' % (b"1" * MIB),
    ),
    "a record of 4 MiB": (
        ("request", "object", "metadata", "annotations", "berth.dev/original-request"),
        lambda: b'"{\\"v\\":1,\\"containers\\":%s"' % (b"[" * (4 * MIB)),
    ),
    "a name of 2 MiB": (
        ("request", "object", "metadata", "generateName"),
        lambda: b'"%s"' % (b"x" * (2 * MIB)),
    ),
}
"""What stands where."""
LIMITS = {"8 MiB": MOST, "8 MiB and a byte": MOST + 1}


def named(kind: str, document: bytes, splice: Splice) -> Case:
    """Return the large body of this kind."""
    if kind in LIMITS:
        return Case(kind, document.ljust(LIMITS[kind]))
    place, text = KINDS[kind]
    return Case(kind, splice(document, place, text()))


def mebibyte(dice: random.Random, document: bytes, splice: Splice) -> Case:
    """Return a body of a MiB, give or take: honest and wide, wrong somewhere, or mere bytes."""
    action = dice.randrange(5)
    if action == 0:
        return Case("a MiB of bytes", dice.randbytes(MIB))
    if action == 1:
        return Case("a MiB and a brace", document.ljust(MIB - 1) + b"}")
    size = dice.choice((10, 100, 1000, 10_000))
    value = dice.randbytes(size // 2).hex().encode()
    entry = b'{"name":"E%%d","value":"%s"}' % value
    wide = splice(document, (*_MAIN, "env"), _list(entry, MIB // (size + 25)))
    if action == 2:
        return Case("a wrong MiB", splice(wide, dice.choice(_PLACES[:2]), dice.choice(_ODD)))
    if action == 3:
        odd = splice(wide, ("request", "namespace"), dice.choice(values.TEXTS))
        return Case("a MiB with something odd", odd)
    return Case("an honest MiB", wide)


_ODD = (b'{"a":1,"a":2}', b"[" * 1000, b"7", b'"\\ud800"', b"NaN")
