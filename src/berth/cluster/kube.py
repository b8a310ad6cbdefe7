"""The only module that calls the API server; lightkube behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import msgspec
import yaml
from lightkube import AsyncClient, KubeConfig, codecs
from lightkube.config.kubeconfig import SingleConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.resources.admissionregistration_v1 import MutatingWebhookConfiguration

from berth import names
from berth.errors import UsageError
from berth.model.raw import JsonObject

# What the library and what is below it raise: for answers, for the way there, for a bad kubeconfig.
_ANSWERS = (ApiError, httpx2.HTTPError, msgspec.MsgspecError)
_FILES = (ConfigError, OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError)


def configuration(kubeconfig: Path | None) -> SingleConfig:
    """Find the cluster: `kubeconfig`, else the Pod's own account, KUBECONFIG or ~/.kube/config.

    Raises UsageError where there is none.
    """
    try:
        found = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
        single = found.get()
    except _FILES as error:
        where = f"{kubeconfig}: " if kubeconfig else ""
        why = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(
            f"{where}no cluster to talk to ({why}); give a kubeconfig that names one"
        ) from None
    if single is None:
        raise UsageError("the kubeconfig names no current context; give one that does")
    return single


async def apply(config: SingleConfig, manifest: JsonObject) -> None:
    """Apply an object server-side, as field manager `berth`. Raises UsageError."""
    with _told("the API server did not take the configuration"):
        async with AsyncClient(config=config, field_manager=names.FIELD_MANAGER) as client:
            await client.apply(codecs.from_dict(manifest), force=True)


async def delete_configuration(config: SingleConfig, name: str) -> bool:
    """Delete a MutatingWebhookConfiguration; False where there was none. Raises UsageError."""
    with _told(f"the API server did not delete {name}"):
        async with AsyncClient(config=config) as client:
            try:
                await client.delete(MutatingWebhookConfiguration, name)
            except ApiError as error:
                if error.status.code == 404:
                    return False
                raise
    return True


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Turn what goes wrong below into a UsageError that begins with `what`."""
    try:
        yield
    except (*_ANSWERS, *_FILES) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"{what}: {why}") from error
