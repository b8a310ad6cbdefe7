"""The only module that calls the API server; lightkube behind it."""

import os
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TypeAlias, TypeVar

import httpx2
import msgspec
import yaml
from lightkube import AsyncClient, KubeConfig
from lightkube.config.kubeconfig import SingleConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.models.admissionregistration_v1 import MutatingWebhook, ValidatingWebhook
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.admissionregistration_v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from lightkube.resources.core_v1 import Secret
from lightkube.types import PatchType

from berth import names
from berth.cluster import cause
from berth.errors import UsageError
from berth.model.raw import JsonObject

_Configuration: TypeAlias = MutatingWebhookConfiguration | ValidatingWebhookConfiguration
_Entry: TypeAlias = MutatingWebhook | ValidatingWebhook
_KINDS: Mapping[str, type[_Configuration]] = {
    names.MUTATING: MutatingWebhookConfiguration,
    names.VALIDATING: ValidatingWebhookConfiguration,
}
T = TypeVar("T")
# What the library and what is below it raise: for answers, for the way there, for a bad kubeconfig.
_ANSWERS = (ApiError, httpx2.HTTPError, msgspec.MsgspecError)
_FILES = (
    *(ConfigError, OSError, ValueError, KeyError, TypeError, AttributeError),
    *(yaml.YAMLError, RecursionError),
)


def configuration(kubeconfig: Path | None) -> SingleConfig:
    """Find the cluster: `kubeconfig`, else the Pod's own account, KUBECONFIG or ~/.kube/config.

    Raises UsageError where there is none.
    """
    try:
        found = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
        single = found.get()
    except _FILES as error:
        where = f"{kubeconfig}: " if kubeconfig else ""
        raise UsageError(
            f"{where}no cluster to talk to ({_unread(error)}); give a kubeconfig that names one"
        ) from None
    if single is None:
        raise UsageError("the kubeconfig names no current context; give one that does")
    return single


def _unread(error: Exception) -> str:
    """Say why a kubeconfig is none, where the library means its own code to fail."""
    if isinstance(error, KeyError):
        return f"nothing in it is called {error}"
    if isinstance(error, TypeError | AttributeError | UnicodeDecodeError | RecursionError):
        return "what is there is no kubeconfig"
    said = cause.said(error)
    several = isinstance(error, ConfigError) and os.pathsep in said and said.endswith(" not found")
    return f"{said}; of several files Berth reads only one, by --kubeconfig" if several else said


@dataclass(frozen=True, slots=True)
class KeptConfiguration:
    """The entries of a webhook configuration, and its resourceVersion."""

    entries: Sequence[_Entry]
    version: str

    @property
    def bundles(self) -> Iterator[bytes]:
        """The caBundle of each entry."""
        return (b64decode(entry.clientConfig.caBundle or "") for entry in self.entries)


async def apply(config: SingleConfig, manifest: JsonObject, over: KeptConfiguration) -> bool:
    """Apply a webhook configuration server-side, as field manager `berth`. Raises UsageError.

    False where it is not what `over` is any more, or is gone. An entry that is not wanted goes once
    the others stand: an apply without it would leave it to `kubectl apply`, which wrote it too, but
    for the caBundle that is ours, and none of its Pods would be created any more.
    """
    kind = _KINDS[str(manifest["kind"])]
    wanted = msgspec.convert(manifest, kind)
    entries, metadata = wanted.webhooks or (), wanted.metadata or ObjectMeta()
    known = {entry.name for entry in entries}
    gone = [entry for entry in over.entries if entry.name not in known]
    metadata.resourceVersion = over.version
    wanted = msgspec.structs.replace(wanted, webhooks=[*entries, *gone], metadata=metadata)
    with _told("the API server did not take the configuration"):
        async with AsyncClient(config=config, field_manager=names.FIELD_MANAGER) as client:
            changed = _in_turn(client, wanted, gone)
            return await _unless(changed, HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)


async def _in_turn(client: AsyncClient, wanted: _Configuration, gone: Sequence[_Entry]) -> None:
    applied = await client.apply(wanted, force=True)
    if gone:
        kind, metadata = type(wanted), applied.metadata or ObjectMeta()
        entries = [{"name": entry.name, "$patch": "delete"} for entry in gone]
        over = {"resourceVersion": _version(metadata)}
        await client.patch(kind, metadata.name or "", {"metadata": over, "webhooks": entries})


async def webhook_configuration(
    config: SingleConfig, kind: str, name: str
) -> KeptConfiguration | None:
    """Read a webhook configuration; None where there is none. Raises UsageError."""
    with _told(f"the API server did not show the configuration {name}"):
        async with AsyncClient(config=config) as client:
            found = await _there(client.get(_KINDS[kind], name))
    if found is None:
        return None
    return KeptConfiguration(found.webhooks or (), _version(found.metadata))


@dataclass(frozen=True, slots=True)
class KeptSecret:
    """What a Secret holds, and its resourceVersion."""

    data: Mapping[str, bytes]
    version: str


async def secret(config: SingleConfig, namespace: str, name: str) -> KeptSecret | None:
    """Read a Secret; None where there is none. Raises UsageError."""
    with _told(f"the API server did not show the Secret {namespace}/{name}"):
        async with AsyncClient(config=config, namespace=namespace) as client:
            found = await _there(client.get(Secret, name))
            if found is None:
                return None
            data = {key: b64decode(value) for key, value in (found.data or {}).items()}
            return KeptSecret(data, _version(found.metadata))


async def write_secret(config: SingleConfig, place: tuple[str, str], wanted: KeptSecret) -> bool:
    """Create the Secret at `place` (namespace, name), or change it where `wanted` has a version.

    Labels, annotations and other keys stay. False where someone else was first: it is there
    already, is gone, or is another by now. Raises UsageError.
    """
    namespace, name = place
    metadata = ObjectMeta(name=name, namespace=namespace, resourceVersion=wanted.version or None)
    data = {key: b64encode(value).decode() for key, value in wanted.data.items()}
    with _told(f"the API server did not take the Secret {namespace}/{name}"):
        async with AsyncClient(config=config, field_manager=names.FIELD_MANAGER) as client:
            if wanted.version:
                change = client.patch(
                    Secret,
                    name,
                    Secret(metadata=metadata, data=data),
                    namespace=namespace,
                    patch_type=PatchType.MERGE,
                )
                return await _unless(change, HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)
            metadata.labels = {names.NAME_LABEL: names.FIELD_MANAGER}
            made = client.create(Secret(metadata=metadata, data=data, type="Opaque"))
            return await _unless(made, HTTPStatus.CONFLICT)


def _version(metadata: ObjectMeta | None) -> str:
    return (metadata.resourceVersion if metadata else None) or ""


async def _there(answer: Awaitable[T]) -> T | None:
    """Return what was asked for, None where there is none."""
    try:
        return await answer
    except ApiError as error:
        if error.status.code == HTTPStatus.NOT_FOUND:
            return None
        raise


async def _unless(answer: Awaitable[object], *statuses: HTTPStatus) -> bool:
    """Say whether it was done; an answer with one of `statuses` is a no."""
    try:
        await answer
    except ApiError as error:
        if error.status.code in statuses:
            return False
        raise
    return True


async def begin_configuration(config: SingleConfig, kind: str, name: str) -> None:
    """Create a webhook configuration without entries, if there is none. Raises UsageError.

    An apply can be told to change only what was read, but not to create only.
    """
    empty = _KINDS[kind](metadata=ObjectMeta(name=name))
    with _told(f"the API server did not take the configuration {name}"):
        async with AsyncClient(config=config, field_manager=names.FIELD_MANAGER) as client:
            await _unless(client.create(empty), HTTPStatus.CONFLICT)


async def delete_configuration(config: SingleConfig, kind: str, name: str) -> bool:
    """Delete a webhook configuration; False where there was none. Raises UsageError."""
    with _told(f"the API server did not delete {name}"):
        async with AsyncClient(config=config) as client:
            return await _unless(client.delete(_KINDS[kind], name), HTTPStatus.NOT_FOUND)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Turn what goes wrong below into a UsageError that begins with `what`."""
    try:
        yield
    except (*_ANSWERS, *_FILES) as error:
        raise UsageError(f"{what}: {cause.said(error)}") from error
