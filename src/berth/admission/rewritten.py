"""What a Pod looks like that the webhook has rewritten, in CEL: `hami.write` as a condition.

By the time that it is evaluated, the API server has found the Pod valid (so requests equal limits,
and amounts are whole) and has written each amount canonically: nothing as "0", a hundred as "100".
Every field that may lack is read as an optional, `c.?env`: an expression that fails would refuse
the Pod. The long list, `env`, is gone through once, as CEL takes its time for each entry.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from berth import names
from berth.admission import spoken
from berth.admission.rules import EnvHandling, Privileged, Rules
from berth.admission.spoken import literal
from berth.dialects import kai
from berth.dialects.conversion import Conversion
from berth.dialects.options import Hidden
from berth.model.said import Said
from berth.model.vendor import Vendor
from berth.words.catalogue import Language

_NO_POLICY = ("", "default")
_NOBODY = "variables.users.size() == 0"
_USERS = spoken.later('variables.users.join(", ")')
_CONTAINER = spoken.later("c.name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What holds of every rewritten Pod, and what to say where it does not."""

    holds: str
    says: Said


def variables(rules: Rules, language: Language = "en") -> dict[str, str]:
    """Return the expressions that `checks` are made of, each made of those before it.

    `language` is of those that are sentences.
    """
    kinds = ("object.spec.containers", "object.spec.?initContainers.orValue([])")
    read = _read(rules)
    found = {"containers": _joined(f"{kind}.map(c, {{{read}}})" for kind in kinds)}
    asking = _asking(rules)
    for name, vendor in asking.items():
        skipped = "!c.privileged && " if rules.privileged is Privileged.SKIP else ""
        left = _left_to_the_node(vendor, rules)
        if left:
            found[f"left_by_{name}"] = literal(left)
        found[name] = f"variables.containers.filter(c, {skipped}({_asks(vendor)}))"
    found["users"] = _joined(f"variables.{name}.map(c, c.name)" for name in asking)
    found |= _kai() if _reads_kai(rules) else {}
    lacks = [
        f"variables.{name}.map(c,\n{condition},\n{spoken.expression(says, language)})"
        for name, vendor in asking.items()
        for condition, says in (*_lacks(name, vendor, rules), *_size(vendor, rules))
    ]
    lacks += [
        f"variables.containers.filter(c, !({_NOBODY}) && {_is_stranger(hidden, asking)})"
        f".map(c,\n{_shows(hidden)},\n{spoken.expression(_lack(hidden.variable), language)})"
        for hidden in rules.options.hidden
    ]
    if lacks:
        found["lacking"] = _joined(lacks)
    return found


def _read(rules: Rules) -> str:
    """Return what is read of a container, the entries of a CEL map."""
    env = sorted({name for vendor in rules.options.words for name in _variables(vendor, rules)})
    fields = {
        "name": "c.name",
        # Of a quantity, text or number, the API server knows no type, and so not of its holder's.
        "limits": "dyn(c).?resources.?limits.orValue({})",
        "claims": "c.?resources.?claims.orValue([]).size() > 0",
        "privileged": "c.?securityContext.?privileged.orValue(false)",
        "env": f"c.?env.orValue([]).filter(e, e.name in {literal(env)})",
    }
    return ",\n".join(f"{literal(name)}: dyn({value})" for name, value in fields.items())


def _variables(vendor: Vendor, rules: Rules) -> Iterator[str]:
    """Yield which variables of a container tell whether it was rewritten."""
    yield from _left_to_the_node(vendor, rules)
    if vendor.priority and vendor.priority_env:
        yield vendor.priority_env
    if vendor.name_env:
        yield vendor.name_env
    if vendor.core_policy_env and vendor.core_policy not in _NO_POLICY:
        yield vendor.core_policy_env
    if vendor.hide_from_others:
        yield vendor.visible_env


def _is_stranger(hidden: Hidden, asking: Mapping[str, Vendor]) -> str:
    """Whether the container has no share of the devices that the variable hides."""
    users = (name for name, vendor in asking.items() if vendor.visible_env == hidden.variable)
    return " && ".join(f"!variables.{name}.exists(u, u.name == c.name)" for name in users)


def _joined(lists: Iterable[str]) -> str:
    return " +\n".join(lists)


def checks(rules: Rules) -> Iterator[Check]:
    """Yield what has to hold of a Pod that is in scope; all hold of one that asks for nothing."""
    scheduler = rules.options.scheduler_name
    if scheduler:
        ours = f'object.spec.?schedulerName.orValue("") == {literal(scheduler)}'
        about = {"container": _USERS, "scheduler": scheduler}
        yield _pod_wide(ours, Said("undone.scheduler", about))
        nowhere = 'object.spec.?nodeName.orValue("") == ""'
        yield _pod_wide(nowhere, Said("undone.node-name", {"container": _USERS}))
    classed = [name for name, vendor in _asking(rules).items() if vendor.runtime_class]
    if classed:
        none = " && ".join(f"variables.{name}.size() == 0" for name in classed)
        has_class = f"has(object.spec.runtimeClassName) || ({none})"
        yield _pod_wide(has_class, Said("undone.runtime-class", {"container": _USERS}))
    if rules.privileged is Privileged.DENY:
        unprivileged = "!variables.containers.exists(c, c.privileged)"
        yield _pod_wide(unprivileged, Said("undone.privileged", {"container": _USERS}))
    if _reads_kai(rules):
        yield _no_annotation(rules)
    if "lacking" in variables(rules):
        says = Said("undone.lacking", {"lacking": spoken.later('variables.lacking.join(", ")')})
        yield Check(holds="variables.lacking.size() == 0", says=says)


def _reads_kai(rules: Rules) -> bool:
    """Whether Pods ask by KAI's annotations here too, which are taken out (`kai.without`)."""
    return any(vendor.dialect == kai.NAME for vendor in rules.options.words)


def _kai() -> dict[str, str]:
    """Return which of KAI's annotations ask, and for which container."""
    annotations = "object.metadata.?annotations.orValue({})"
    named = f'{annotations}[?"{names.KAI_CONTAINER}"].orValue("")'
    return {
        "kai": f"{annotations}.filter(key, key in {literal(names.KAI_ASKING)})",
        "kai_user": f'{named} != "" ? {named} : object.spec.containers[0].name',
    }


def _no_annotation(rules: Rules) -> Check:
    """Return that no annotation asks for a device: for one container of the Pod (`kai.read`)."""
    holds = "variables.kai.size() == 0"
    if rules.privileged is Privileged.SKIP:
        user = "c.name == variables.kai_user && c.privileged"
        holds += f" || variables.containers.exists(c, {user})"
    keys = spoken.later('variables.kai.join(", ")')
    about = {"container": spoken.later("variables.kai_user"), "name": keys}
    return Check(holds=holds, says=Said("undone.annotation", about))


def _pod_wide(holds: str, says: Said) -> Check:
    return Check(holds=f"{_NOBODY} || {holds}", says=says)


def _asking(rules: Rules) -> dict[str, Vendor]:
    """Name the variable that holds the containers with a share, for each vendor."""
    return {
        f"asks_{re.sub(r'[^A-Za-z0-9]', '_', vendor.name)}_{index}": vendor
        for index, vendor in enumerate(rules.options.words)
        if vendor.count  # else it is asked for by annotations: `_no_annotation`
    }


def _asks(vendor: Vendor) -> str:
    """Whether the container has a share (`hami._share`)."""
    counted = f'{_amount(vendor.count)} != "0"'
    sizes = [name for name in (vendor.memory, vendor.memory_percent, vendor.cores) if name]
    if not (vendor.default_count or vendor.count_or_size) or not sizes:
        return counted
    sized = " || ".join(f'{_amount(name)} != "0"' for name in sizes)
    return f"{_named(vendor.count)} ? {counted}\n: ({sized})"


def _lacks(name: str, vendor: Vendor, rules: Rules) -> Iterator[tuple[str, Said]]:
    """Yield when a container with a share is incomplete (`completion`), and what is said."""
    target = _target(vendor, rules)
    if target is not vendor:
        yield _leftover(vendor, target)
    own = target.dialect == vendor.dialect
    if own and not (vendor.count_or_size or vendor.count_is_implied):
        yield f"!({_named(vendor.count)})", _lack(vendor.count)
    if own and vendor.whole_is_named and vendor.cores and not vendor.default_cores:
        without = f"!({_named(vendor.cores)}) &&\n({_whole(vendor)})"
        yield without, _lack(vendor.cores)
    if own and vendor.priority and vendor.priority_env:
        # What no int64 holds is refused by the webhook, and is nothing to compare here.
        amount = f"quantity({_amount(vendor.priority)})"
        stands = _stands(vendor.priority_env, f"string({amount}.asInteger())")
        unset = f"{_named(vendor.priority)} &&\n{amount}.isInteger() &&\n!({stands})"
        yield unset, _lack(vendor.priority_env)
    if vendor.name_env:
        named = f"c.env.exists(e, e.name == {literal(vendor.name_env)})"
        yield f"!{named}", _lack(vendor.name_env)
    if vendor.core_policy_env and vendor.core_policy not in _NO_POLICY:
        stands = _stands(vendor.core_policy_env, literal(vendor.core_policy))
        yield f"!({stands})", _lack(vendor.core_policy_env)
    if _left_to_the_node(vendor, rules):
        foreign = _foreign(f"variables.left_by_{name}", rules)
        name = spoken.later(f"c.env.filter(e, {foreign})[0].name")
        says = Said("part.sets", {"container": _CONTAINER, "name": name})
        yield f"c.env.exists(e,\n{foreign})", says


def _size(vendor: Vendor, rules: Rules) -> Iterator[tuple[str, Said]]:
    """Yield when its memory is missing; where a scheduler is written too, that tells already."""
    by = rules.options.conversion
    if by and by.targets.get(vendor.name) is vendor and not rules.options.scheduler_name:
        yield from _unsized(vendor, by) if vendor.memory else ()


def _unsized(vendor: Vendor, by: Conversion) -> Iterator[tuple[str, Said]]:
    """Yield when a container has no memory that a conversion gives it (`wanted_size.size`).

    What is no percentage is a size, or the webhook refuses it; 100% is not written. A Pod with our
    record may have been settled, as one that asked for whole cards in other words.
    """
    annotations = "object.metadata.?annotations.orValue({})"
    parts = f'{annotations}[?"{names.GPU_MEMORY}"].orValue("").split(",").map(p, p.trim())'
    own = f'{parts}.filter(p, p.matches("^" + c.name + "\\\\s*="))'
    every = f'{parts}.filter(p, p != "" && !p.contains("="))'
    default = by.default_memory and by.default_memory.mib
    others = "true" if default else f'"{names.MODEL}" in {annotations}'
    said = f"({own} + ({own}.size() > 0 ? [] : {every}))"
    meant = f'{said}.size() > 0 ? !{said}[0].endsWith("%") : {others}'
    fresh = f'!("{names.ORIGINAL_REQUEST}" in {annotations})'
    named = " || ".join(_named(one) for one in (vendor.memory, vendor.memory_percent) if one)
    yield f"!({named}) &&\n{fresh} &&\n({meant})", _lack(vendor.memory)


def _lack(name: str) -> Said:
    return Said("part.lacks", {"container": _CONTAINER, "name": name})


def _target(vendor: Vendor, rules: Rules) -> Vendor:
    """Return the words in which an accelerator is written here."""
    by = rules.options.conversion
    return by.targets.get(vendor.name, vendor) if by else vendor


def _leftover(vendor: Vendor, target: Vendor) -> tuple[str, Said]:
    """Return when a container still asks in words that are written otherwise."""
    gone = [name for name in vendor.resources if name not in target.resources]
    named = " || ".join(map(_named, gone)) or "false"
    unnamed = "" if vendor.count in gone else f" || !({_named(vendor.count)})"
    says = Said("part.leftover", {"container": _CONTAINER, "dialect": vendor.dialect})
    return f"{named}{unnamed}", says


def _whole(vendor: Vendor) -> str:
    """Whether the card is the container's alone (`hami._is_whole`), but for the cores."""
    memory = f'{_amount(vendor.memory)} == "0"' if vendor.memory else "true"
    unsized = "false" if vendor.default_memory else memory
    if not vendor.memory_percent:
        return unsized
    percent = _amount(vendor.memory_percent)
    return f'{percent} == "0" ? {unsized} : {percent} == "100"'


def _left_to_the_node(vendor: Vendor, rules: Rules) -> list[str]:
    """Return the variables that no container with a share keeps: removed, or a refusal."""
    limits = vendor.limit_env if rules.limit_env is not EnvHandling.KEEP else frozenset()
    visible = {vendor.visible_env} if rules.device_env is not EnvHandling.KEEP else set()
    return sorted((limits | visible) - {""})


def _foreign(left: str, rules: Rules) -> str:
    """Whether a variable is one of these, with a value that is not the cluster's own."""
    own = literal(sorted([name, value] for name, value in rules.options.injected_env))
    ours = f'!has(e.valueFrom) && [e.name, e.?value.orValue("")] in {own}'
    return f"e.name in {left}" + (f" && !({ours})" if rules.options.injected_env else "")


def _shows(hidden: Hidden) -> str:
    """Whether a stranger sees devices that `hami._hide` would have hidden."""
    domains = " || ".join(f"n.startsWith({literal(domain)})" for domain in hidden.domains)
    others = f"c.limits.exists(n, ({domains}) && !(n in {literal(sorted(hidden.resources))}))"
    left_alone = f"c.privileged || c.claims || {others}"
    return f"!({left_alone}) && !({_stands(hidden.variable, literal(hidden.value))})"


def _stands(name: str, value: str) -> str:
    """Whether a variable stands once, with the value of a CEL expression (`variables.put`)."""
    named = f"e.name == {literal(name)}"
    right = f'{named} && !has(e.valueFrom) && e.?value.orValue("") == {value}'
    return f"c.env.exists_one(e, {named}) && c.env.exists(e, {right})"


def _named(resource: str) -> str:
    return f"{literal(resource)} in c.limits"


def _amount(resource: str) -> str:
    return f'c.limits[?{literal(resource)}].orValue("0")'
