"""The rules in words: what is looked at, in which order, and what holds then."""

from collections.abc import Iterator

from berth import names
from berth.admission.rules import Rules
from berth.dialects.conversion import Conversion, Defaults, Presets, Size
from berth.model.wildcard import EVERY
from berth.settings import Settings


def lines(
    rules: Rules, settings: Settings, namespace: str = "", conversion: str = ""
) -> Iterator[str]:
    """Yield the order of the rules, then each set of them; or the one set of a namespace."""
    if namespace:
        yield from _place(rules.within(namespace, conversion), namespace)
        if rules.audited.names_one(namespace):
            yield "  on trial: all this is told, and nothing is done"
        return
    yield "A Pod is left alone, by the first of these that fits:"
    for number, line in enumerate(_left_alone(settings), 1):
        yield f"  {number}. {line}"
    yield ""
    yield "Else its namespace has, by the first of these that fits:"
    for number, line in enumerate(_chosen(rules, settings), 1):
        yield f"  {number}. {line}"
    if listed := [*_on_trial(settings)]:
        yield ""
        yield "On trial, where all this is told and nothing is done, is a namespace"
        yield from (f"  {line}" for line in listed)
    for name, zone in sorted(rules.zones.items()):
        yield ""
        yield f"conversion {name}:"
        yield from _said(zone)
    if EVERY not in {one for each in settings.conversions for one in each.namespaces}:
        yield ""
        yield "without a conversion:"
        yield from _said(rules)


def _place(rules: Rules, namespace: str) -> Iterator[str]:
    if namespace in rules.excluded_namespaces:
        yield f"{namespace}: left alone, as the settings exclude it"
        return
    by = rules.options.conversion
    yield f"{namespace}: conversion {by.name}" if by else f"{namespace}: without a conversion"
    yield from _said(rules)


def _left_alone(settings: Settings) -> Iterator[str]:
    left_out = {*settings.policy.excluded_namespaces, settings.registration.namespace}
    yield f"its namespace is {', '.join(sorted(left_out))}"
    if settings.conversions:
        yield f"a conversion holds there and it is {', '.join(sorted(names.SYSTEM_NAMESPACES))}"
    yield f"its namespace is labelled {names.WEBHOOK_OPT_OUT}={names.WEBHOOK_OPT_OUT_VALUE}"
    if settings.registration.only_labelled_namespaces:
        yield f"its namespace is not labelled {names.INJECT_LABEL}={names.INJECT_LABEL_VALUE}"
    yield f"it is labelled {names.INJECT}={names.INJECT_VALUE}"
    yield f"it is labelled {names.WEBHOOK_OPT_OUT}={names.WEBHOOK_OPT_OUT_VALUE}"
    yield "it mirrors a static Pod, or is for Windows"
    yield "its scheduler is none of those below (with a conversion, its author is told)"


def _chosen(rules: Rules, settings: Settings) -> Iterator[str]:
    if rules.zones:
        listed = ", ".join(sorted(rules.zones))
        yield f"the conversion that its label {names.CONVERSION} names: {listed}"
    for wanted in settings.conversions:
        for namespace in wanted.namespaces:
            if namespace != EVERY:
                yield f"conversion {wanted.name}, which lists {namespace}"
    for wanted in settings.conversions:
        if EVERY in wanted.namespaces:
            yield f"conversion {wanted.name}, which lists every other"
            return
    yield "no conversion: HAMi's words are read and written"


def _on_trial(settings: Settings) -> Iterator[str]:
    if EVERY in settings.audit.namespaces:
        yield "whichever"
    elif settings.audit.namespaces:
        yield f"called {', '.join(sorted(settings.audit.namespaces))}"
    if settings.audit.namespace_label:
        yield f"labelled {settings.audit.namespace_label}"


def _said(rules: Rules) -> Iterator[str]:
    options, by = rules.options, rules.options.conversion
    reads = by.reads if by else ("hami",)
    schedulers = ", ".join(sorted(rules.schedulers - {""}))
    yield f"  reads {', '.join(reads)}; writes {options.writes}"
    yield f"  takes Pods of the schedulers {schedulers or 'that name none'}"
    whole = "every Pod" if by and by.whole_pods else "Pods with a device"
    yield f"  sets scheduler {options.scheduler_name or 'none'} in {whole}"
    if by:
        yield from _converted(by, rules)


def _converted(by: Conversion, rules: Rules) -> Iterator[str]:
    kinds = dict.fromkeys(by.losses.values())
    for handling in sorted(kinds, key=lambda one: one.value):
        lost = ", ".join(loss.value for loss, one in by.losses.items() if one is handling)
        yield f"  losses: {handling.value} {lost}"
    annotations = f"{names.GPU_MEMORY}, {names.MODEL}"
    usual = f"{_size(by.default_memory)}{_of_hami(rules)}"
    yield f"  memory: resources, {annotations}, {usual}the whole card"
    yield from _modelled(by.presets)
    if by.oversubscribed:
        yield f"  oversubscribed: {by.oversubscribed}"
    if by.queue:
        yield f"  queue: {by.queue}"
    if by.defaults != Defaults():
        given = by.defaults
        requests = f"cpu {given.cpu_request or '-'}, memory {given.memory_request or '-'}"
        most = f"cpu {given.cpu_limit or '-'}, memory {given.memory_limit or '-'}"
        yield f"  defaults beside a device: requests {requests}; limits {most}"


def _modelled(presets: Presets) -> Iterator[str]:
    """Yield what follows from the size of a model: by the table, else by the formula."""
    by = ", ".join(f"{use} x {factor:g}" for use, factor in presets.factors.items())
    yield f"  {names.MODEL}: its weights, by use {by}; and {presets.overhead_mib} MiB on each card"
    for (model, use, precision), mib in sorted(presets.table.items()):
        yield f"    {model}/{use}/{precision}: {mib} MiB"


def _of_hami(rules: Rules) -> str:
    """Return what HAMi's words mean by default, where they are translated."""
    vendors = rules.vendors if rules.options.writes != "hami" else ()
    mib = next((one.default_memory for one in vendors if one.name == "nvidia"), 0)
    return f"HAMi's default of {mib} MiB, " if mib else ""


def _size(size: Size | None) -> str:
    if size is None:
        return ""
    return f"{size.percent} percent, " if size.mib is None else f"{size.mib} MiB, "
