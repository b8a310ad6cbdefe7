"""The only module that calls the API server; lightkube behind it."""

from pathlib import Path

import httpx2
from lightkube import AsyncClient, KubeConfig, codecs
from lightkube.config.kubeconfig import SingleConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.resources.admissionregistration_v1 import MutatingWebhookConfiguration

from berth import names
from berth.errors import UsageError
from berth.model.raw import JsonObject


def configuration(kubeconfig: Path | None) -> SingleConfig:
    """Find the cluster: `kubeconfig`, else KUBECONFIG, in-cluster or ~/.kube/config.

    Raises UsageError where there is none.
    """
    try:
        found = KubeConfig.from_file(kubeconfig) if kubeconfig else KubeConfig.from_env()
        single = found.get()
    except (ConfigError, OSError) as error:
        raise UsageError(
            f"no cluster to talk to ({error}); give --kubeconfig or set KUBECONFIG"
        ) from None
    if single is None:
        raise UsageError("the kubeconfig names no current context; give one that does")
    return single


async def apply(config: SingleConfig, manifest: JsonObject) -> None:
    """Apply an object server-side, as field manager `berth`. Raises UsageError."""
    async with AsyncClient(config=config, field_manager=names.FIELD_MANAGER) as client:
        try:
            await client.apply(codecs.from_dict(manifest), force=True)
        except (ApiError, httpx2.HTTPError, OSError) as error:
            raise UsageError(f"the API server did not take the configuration: {error}") from error


async def delete_configuration(config: SingleConfig, name: str) -> bool:
    """Delete a MutatingWebhookConfiguration; False where there was none. Raises UsageError."""
    async with AsyncClient(config=config) as client:
        try:
            await client.delete(MutatingWebhookConfiguration, name)
        except ApiError as error:
            if error.status.code == 404:
                return False
            raise UsageError(f"the API server did not delete {name}: {error}") from error
        except (httpx2.HTTPError, OSError) as error:
            raise UsageError(f"the API server did not delete {name}: {error}") from error
        return True
