"""One conversion of the settings, resolved: what it reads, writes, fills in and makes of losses."""

from collections.abc import Iterator, Mapping

from berth import closest
from berth.admission.stacks import NVIDIA
from berth.dialects import volcano, wanted_size
from berth.dialects.conversion import BYTES, Conversion, Defaults, Presets, Size, parameters
from berth.errors import UsageError
from berth.model import quantity
from berth.model.loss import Handling, Loss
from berth.model.vendor import Vendor
from berth.settings import Conversion as Wanted
from berth.settings import Models, Stacks


def resolved(wanted: Wanted, where: str, stacks: Stacks, words: Mapping[str, Vendor]) -> Conversion:
    """Return what it means. `words` are those of each dialect. Raises UsageError."""
    target, minor = words[wanted.writes], stacks.volcano.minor
    if wanted.writes == volcano.NAME:
        target = volcano.target(target, minor)
    return Conversion(
        name=wanted.name,
        reads=tuple(dict.fromkeys((*wanted.reads, wanted.writes))),
        targets={NVIDIA: target},
        losses=_losses(wanted, where),
        default_memory=_size(wanted.memory, f"{where}.memory"),
        presets=presets(wanted.models, f"{where}.models"),
        memory_share=min(wanted.oversubscription.memory, wanted.oversubscription.most),
        core_share=min(wanted.oversubscription.cores, wanted.oversubscription.most),
        whole_pods=wanted.scheduler == "all",
        queue=wanted.queue,
        defaults=_defaults(wanted, f"{where}.defaults"),
        volcano_minor=minor,
        visible_devices=stacks.pool.visible_devices,
    )


def capped(wanted: Wanted, where: str) -> Iterator[str]:
    """Yield a warning for each factor that counts as less than it says."""
    most = wanted.oversubscription.most
    for name, factor in (
        ("memory", wanted.oversubscription.memory),
        ("cores", wanted.oversubscription.cores),
    ):
        if factor > most:
            yield f"{where}.oversubscription.{name}: {factor:g} counts as {most:g}, its most"


def _losses(wanted: Wanted, where: str) -> dict[Loss, Handling]:
    known = {loss.value: loss for loss in Loss}
    found = dict.fromkeys(Loss, Handling(wanted.loss))
    # Volcano would hold the node's resources for it and give it no card: never by default.
    found[Loss.INIT_CONTAINER] = Handling.REFUSE
    for name, handling in wanted.losses.items():
        if name not in known:
            raise UsageError(f"{where}.losses: {name} is no loss{closest.hint(name, known)}")
        found[known[name]] = Handling(handling)
    return found


def _size(text: str, where: str) -> Size | None:
    if not text:
        return None
    size = wanted_size.parse(text)
    if size is None:
        raise UsageError(f"{where}: {text} is no size of memory; write 16Gi or 40%")
    return size


def presets(wanted: Models, where: str) -> Presets:
    """Return how much memory models take. Raises UsageError."""
    factors = {
        "inference": wanted.inference,
        "fine-tune": wanted.fine_tune,
        "train": wanted.train,
    }
    table: dict[tuple[str, str, str], int] = {}
    for key, text in wanted.table.items():
        model, _, rest = key.lower().partition("/")
        use, _, precision = rest.partition("/")
        size = wanted_size.parse(text)
        if use not in factors or precision not in BYTES or not _is_model(model):
            raise UsageError(f"{where}.table: {key} is not as 7b/inference/bf16")
        if size is None or size.mib is None:
            raise UsageError(f"{where}.table: {text} of {key} is no size of memory; write 20Gi")
        table[model, use, precision] = size.mib
    return Presets(table=table, factors=factors, overhead_mib=wanted.overhead_mib)


def _is_model(text: str) -> bool:
    try:
        return parameters(text) > 0
    except ValueError:
        return False


def _defaults(wanted: Wanted, where: str) -> Defaults:
    given = wanted.defaults
    found = Defaults(
        cpu_request=given.cpu_request,
        cpu_limit=given.cpu_limit,
        memory_request=given.memory_request,
        memory_limit=given.memory_limit,
    )
    for request, limit, name in (
        (found.cpu_request, found.cpu_limit, "cpu"),
        (found.memory_request, found.memory_limit, "memory"),
    ):
        least, most = (
            _amount(request, f"{where}.{name}Request"),
            _amount(limit, f"{where}.{name}Limit"),
        )
        if least is not None and most is not None and least > most:
            raise UsageError(f"{where}.{name}Request: {request} is more than its limit, {limit}")
    return found


def _amount(text: str, where: str) -> float | None:
    if not text:
        return None
    try:
        return float(quantity.parse(text))
    except (quantity.NotAQuantity, OverflowError):
        raise UsageError(f"{where}: {text} is no quantity such as 500m or 16Gi") from None
