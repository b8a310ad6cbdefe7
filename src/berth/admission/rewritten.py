"""What a Pod looks like that the webhook has rewritten, in CEL: `hami.write` as a condition.

An expression reads one container, `c`. Every field that may lack is read as an optional, `c.?env`:
an expression that fails would refuse the Pod. By the time that it is evaluated, the API server has
found the Pod valid (so requests equal limits, and amounts are whole) and has written each amount
canonically: nothing as "0", a hundred as "100".
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import orjson

from berth.admission.rules import Handling, Privileged, Rules
from berth.dialects.hami import WHOLE_CARD
from berth.model.vendor import Vendor

_PRIVILEGED = "c.?securityContext.?privileged.orValue(false)"
_ENV = "c.?env.orValue([])"
_NOBODY = "variables.users.size() == 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What holds of every rewritten Pod, and what to say where it does not."""

    holds: str
    who: str
    """The variable that lists whom it fails on."""
    why: str


def variables(rules: Rules) -> dict[str, str]:
    """Return the expressions that `checks` are made of, each made of those before it."""
    found = {"containers": "object.spec.containers + object.spec.?initContainers.orValue([])"}
    asking = _asking(rules)
    for name, vendor in asking.items():
        condition = _asks(vendor)
        if rules.privileged is Privileged.SKIP:
            condition = f"!{_PRIVILEGED} &&\n({condition})"
        found[name] = f"variables.containers.filter(c,\n{condition})"
    found["users"] = _joined(f"variables.{name}.map(c, c.name)" for name in asking)
    lacks = [
        f"variables.{name}.map(c,\n{condition},\nc.name + {words})"
        for name, vendor in asking.items()
        for condition, words in _lacks(vendor, rules)
    ]
    lacks += [
        f"variables.containers.filter(c, !({_NOBODY}) && !(c.name in variables.users))"
        f".map(c,\n{_shows(vendor)},\nc.name + {_text(f' lacks {vendor.visible_env}')})"
        for vendor in rules.vendors
        if vendor.hide_from_others
    ]
    if lacks:
        found["lacking"] = _joined(lacks)
    return found


def _joined(lists: Iterable[str]) -> str:
    return " +\n".join(lists)


def checks(rules: Rules) -> Iterator[Check]:
    """Yield what has to hold of a Pod that is in scope; all hold of one that asks for nothing."""
    scheduler = rules.options.scheduler_name
    if scheduler:
        ours = f'object.spec.?schedulerName.orValue("") == {_text(scheduler)}'
        yield _pod_wide(ours, f"spec.schedulerName is not {scheduler}")
        yield _pod_wide('object.spec.?nodeName.orValue("") == ""', "spec.nodeName is set")
    classed = [name for name, vendor in _asking(rules).items() if vendor.runtime_class]
    if classed:
        none = " && ".join(f"variables.{name}.size() == 0" for name in classed)
        yield _pod_wide(f"has(object.spec.runtimeClassName) || ({none})", "no RuntimeClass is set")
    if rules.privileged is Privileged.DENY:
        unprivileged = f"!variables.containers.exists(c, {_PRIVILEGED})"
        yield _pod_wide(unprivileged, "the Pod is privileged")
    if "lacking" in variables(rules):
        yield Check(holds="variables.lacking.size() == 0", who="lacking", why="")


def _pod_wide(holds: str, why: str) -> Check:
    return Check(holds=f"{_NOBODY} || {holds}", who="users", why=f" asks for a device, but {why}")


def _asking(rules: Rules) -> dict[str, Vendor]:
    """Name the variable that holds the containers with a share, for each vendor."""
    return {
        f"asks_{re.sub(r'[^A-Za-z0-9]', '_', vendor.name)}_{index}": vendor
        for index, vendor in enumerate(rules.vendors)
    }


def _asks(vendor: Vendor) -> str:
    """Whether the container has a share (`hami._share`)."""
    counted = f'{_amount(vendor.count)} != "0"'
    sizes = [name for name in (vendor.memory, vendor.memory_percent, vendor.cores) if name]
    if not vendor.default_count or not sizes:
        return counted
    sized = " || ".join(f'{_amount(name)} != "0"' for name in sizes)
    return f"{_named(vendor.count)} ? {counted}\n: ({sized})"


def _lacks(vendor: Vendor, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield when a container with a share is incomplete (`hami._complete`), and words for it."""
    yield f"!{_named(vendor.count)}", _text(f" lacks {vendor.count}")
    if vendor.cores and not vendor.default_cores:
        without = f"!{_named(vendor.cores)} &&\n({_whole(vendor)})"
        yield without, _text(f" lacks {vendor.cores}")
    if vendor.priority and vendor.priority_env:
        # What no int64 holds is refused by the webhook, and is nothing to compare here.
        amount = f"quantity({_amount(vendor.priority)})"
        stands = _stands(vendor.priority_env, f"string({amount}.asInteger())")
        unset = f"{_named(vendor.priority)} &&\n{amount}.isInteger() &&\n!({stands})"
        yield unset, _text(f" lacks {vendor.priority_env}")
    if vendor.core_policy not in ("", "default"):
        stands = _stands(vendor.core_policy_env, _text(vendor.core_policy))
        yield f"!({stands})", _text(f" lacks {vendor.core_policy_env}")
    left = _left_to_the_node(vendor, rules)
    if left:
        foreign = _foreign(left, rules)
        words = f'" sets " + {_ENV}.filter(e, {foreign})[0].name'
        yield f"{_ENV}.exists(e,\n{foreign})", words


def _whole(vendor: Vendor) -> str:
    """Whether the card is the container's alone (`hami._is_whole`), but for the cores."""
    memory = f'{_amount(vendor.memory)} == "0"' if vendor.memory else "true"
    unsized = "false" if vendor.default_memory else memory
    if not vendor.memory_percent:
        return unsized
    percent = _amount(vendor.memory_percent)
    return f'{percent} == "0" ? {unsized} : {percent} == "{WHOLE_CARD}"'


def _left_to_the_node(vendor: Vendor, rules: Rules) -> list[str]:
    """Return the variables that no container with a share keeps: removed, or a refusal."""
    limits = vendor.limit_env if rules.limit_env is not Handling.KEEP else frozenset()
    visible = {vendor.visible_env} if rules.device_env is not Handling.KEEP else set()
    return sorted((limits | visible) - {""})


def _foreign(left: Collection[str], rules: Rules) -> str:
    """Whether a variable is one of these, with a value that is not the cluster's own."""
    named = f"e.name in {_text([*left])}"
    own = sorted([name, value] for name, value in rules.options.injected_env if name in left)
    if own:
        value = 'has(e.valueFrom) ? "" : e.?value.orValue("")'
        ours = f"!has(e.valueFrom) && [e.name, {value}] in {_text(own)}"
        named += f" && !({ours})"
    return named


def _shows(vendor: Vendor) -> str:
    """Whether a container without a share sees cards that `hami._hide` would have hidden."""
    others = (
        f"c.?resources.?limits.orValue({{}}).exists(n, n.startsWith({_text(vendor.domain)})"
        f" && !(n in {_text([*vendor.resources])}))"
    )
    left_alone = f"{_PRIVILEGED} || c.?resources.?claims.orValue([]).size() > 0 || {others}"
    return f"!({left_alone}) && !({_stands(vendor.visible_env, _text('none'))})"


def _stands(name: str, value: str) -> str:
    """Whether a variable stands once, with the value of a CEL expression (`variables.put`)."""
    named = f"e.name == {_text(name)}"
    right = f'{named} && !has(e.valueFrom) && e.?value.orValue("") == {value}'
    return f"{_ENV}.exists_one(e, {named}) && {_ENV}.exists(e, {right})"


def _named(resource: str) -> str:
    return f"c.?resources.?limits[?{_text(resource)}].hasValue()"


def _amount(resource: str) -> str:
    return f'c.?resources.?limits[?{_text(resource)}].orValue("0")'


def _text(value: object) -> str:
    """Write text, or lists of it, as CEL does: as JSON."""
    return orjson.dumps(value).decode()
