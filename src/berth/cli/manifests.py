"""`berth manifests`: all that a cluster needs, as YAML for kubectl apply."""

from collections.abc import Mapping
from pathlib import Path

import click
import msgspec
import yaml

from berth import __version__
from berth.admission import backstop, configuration, guard, registration
from berth.admission.rules import Rules
from berth.cli import configured, deployment, options, printed
from berth.errors import UsageError
from berth.model.raw import JsonObject
from berth.settings import Registration, Settings


@click.command()
@click.option("--image", default=f"berth:{__version__}", show_default=True)
@click.option("--replicas", default=2, show_default=True, type=click.IntRange(1))
@click.option(
    "--tls-secret",
    help="A Secret of yours or of cert-manager's: tls.crt, tls.key, ca.crt; else Berth makes all.",
)
@click.option(
    "--ca-file", type=options.FILE, help="PEM bundle for a --tls-secret that has no ca.crt."
)
@click.option(
    "--upgrade",
    is_flag=True,
    help="Without the webhook configurations: the replicas that run write these.",
)
@click.option(
    "--backstop",
    "with_backstop",
    is_flag=True,
    help="The policy of `berth policy` too, which refuses while the webhook does not answer.",
)
@options.configuration
def command(
    *,
    image: str,
    replicas: int,
    tls_secret: str | None,
    ca_file: Path | None,
    upgrade: bool,
    with_backstop: bool,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Print what to apply to run Berth in a cluster.

    Pipe it into `kubectl apply --server-side --force-conflicts -f -`; the webhook
    configurations come last, but for the backstop.
    """
    loaded, rules = configured.read(config, device_config, settings)
    if ca_file and not tls_secret:
        raise UsageError("--ca-file: vouches for --tls-secret; give that too, or neither")
    _check_ports(loaded)
    registered = loaded.registration
    objects = [deployment.namespace(registered)]
    files = {deployment.DEVICE_CONFIG: _text(device_config)} if device_config else {}
    if ca_file:
        files[deployment.AUTHORITY] = _text(ca_file)
    known = configuration.callers(loaded.callers)
    if known and known.certificate:
        files[deployment.CLIENT_AUTHORITY] = _text(Path(loaded.callers.client_ca_file))
    files[deployment.SETTINGS] = _mounted(loaded, tls_secret, ca_file)
    objects += deployment.access(registered, _watched(loaded))
    if not tls_secret:
        objects += deployment.secret_access(registered, loaded.certificates.secret)
    objects += deployment.workload(
        registered,
        deployment.Choice(
            image=image,
            replicas=replicas,
            tls_secret=tls_secret,
            server=loaded.server,
            metrics=loaded.metrics,
            files=files,
        ),
    )
    objects += [
        *([] if upgrade else _registration(rules, registered, files)),
        *(backstop.objects(rules, registered, loaded.language) if with_backstop else ()),
    ]
    click.echo(printed.objects(objects), nl=False)


def _check_ports(loaded: Settings) -> None:
    if not loaded.server.port:
        raise UsageError(
            "server.port: 0 is no port that a Service can lead to; write one, say 8443"
        )
    if loaded.metrics.enabled and not loaded.metrics.port:
        raise UsageError("metrics.port: 0 is no port that Prometheus can find; write one, say 9464")


def _registration(
    rules: Rules, registered: Registration, files: Mapping[str, str]
) -> list[JsonObject]:
    """Return what leads Pods to us; the first replica that runs fills in an unknown caBundle.

    Until then an entry refuses all Pods that it matches.
    """
    bundle = files.get(deployment.AUTHORITY, "").encode()
    return [
        registration.configuration(rules, registered, bundle),
        guard.configuration(rules, registered, bundle),
    ]


def _watched(loaded: Settings) -> set[tuple[str, str]]:
    """Return what has to be known of the cluster, each with its API group."""
    found = set[tuple[str, str]]()
    if loaded.quota.enforce != "never":
        found |= {("", "pods"), ("", "resourcequotas")}
    if loaded.placement.enforce != "never":
        found |= {("", "pods"), ("", "nodes")}
    if found and loaded.classes.runtime:
        found.add(("node.k8s.io", "runtimeclasses"))
    if found and loaded.classes.device:
        found.add(("resource.k8s.io", "deviceclasses"))
    if found and loaded.classes.limit_range:
        found.add(("", "limitranges"))
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file}: is not text in UTF-8, as a ConfigMap needs it") from None


def _mounted(loaded: Settings, tls_secret: str | None, ca_file: Path | None) -> str:
    """Return the settings that hold here, whatever set them, with the paths of the container."""
    folder = deployment.SETTINGS_FOLDER if ca_file else deployment.TLS_FOLDER
    given = bool(tls_secret)
    server = msgspec.structs.replace(
        loaded.server,
        cert_file=f"{deployment.TLS_FOLDER}/tls.crt" if given else "",
        key_file=f"{deployment.TLS_FOLDER}/tls.key" if given else "",
        ca_file=f"{folder}/{deployment.AUTHORITY}" if given else "",
    )
    known = loaded.callers
    if known.client_ca_file:
        mounted = f"{deployment.SETTINGS_FOLDER}/{deployment.CLIENT_AUTHORITY}"
        known = msgspec.structs.replace(known, client_ca_file=mounted)
    certificates = msgspec.structs.replace(loaded.certificates, store="secret", folder="")
    inside = msgspec.structs.replace(
        loaded, server=server, callers=known, certificates=certificates
    )
    return yaml.dump(msgspec.to_builtins(inside), Dumper=printed.Plain, sort_keys=False)
