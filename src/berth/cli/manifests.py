"""`berth manifests`: all that a cluster needs, as YAML for kubectl apply."""

from pathlib import Path

import click
import msgspec
import yaml

from berth import __version__, clock
from berth import settings as configured
from berth.admission import backstop, configuration, registration
from berth.certs import authority
from berth.cli import deployment, options, printed
from berth.errors import UsageError
from berth.model.raw import JsonObject
from berth.settings import Registration, Settings


@click.command()
@click.option("--image", default=f"berth:{__version__}", show_default=True)
@click.option("--replicas", default=2, show_default=True, type=click.IntRange(1))
@click.option(
    "--tls-secret",
    help="A Secret that is there (tls.crt, tls.key); else one is made and printed, key included.",
)
@click.option("--ca-file", type=options.FILE, help="PEM bundle that vouches for --tls-secret.")
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
    with_backstop: bool,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Print what to apply to run Berth in a cluster.

    Pipe it into `kubectl apply -f -`; the webhook configuration comes last, but for
    the backstop.
    """
    loaded = configured.load(config, settings)
    rules, warnings = configuration.rules(loaded, device_config)
    for warning in warnings:
        click.echo(f"berth: {warning}", err=True)
    if (tls_secret is None) != (ca_file is None):
        raise UsageError("--tls-secret and --ca-file go together; give both or neither")
    if not loaded.server.port:
        raise UsageError(
            "server.port: 0 is no port that a Service can lead to; write one, say 8443"
        )
    registered = loaded.registration
    objects = [deployment.namespace(registered)]
    files = {deployment.DEVICE_CONFIG: _text(device_config)} if device_config else {}
    certificate = JsonObject()
    if tls_secret is None or ca_file is None:
        pair = _pair(registered)
        bundle = pair.authority
        tls_secret = f"{registered.service}-tls"
        made = deployment.secret(registered, tls_secret, pair)
        objects.append(made)
        certificate = {"data": made["data"]}
    else:
        files[deployment.AUTHORITY] = _text(ca_file)
        bundle = files[deployment.AUTHORITY].encode()
    known = configuration.callers(loaded.callers)
    if known and known.certificate:
        files[deployment.CLIENT_AUTHORITY] = _text(Path(loaded.callers.client_ca_file))
    files[deployment.SETTINGS] = _mounted(loaded, own_authority=bool(certificate))
    objects += deployment.access(registered)
    objects += deployment.workload(
        registered,
        deployment.Choice(
            image=image,
            replicas=replicas,
            tls_secret=tls_secret,
            port=loaded.server.port,
            files=files,
            certificate=certificate,
        ),
    )
    objects += [
        registration.configuration(rules, registered, bundle),
        *(backstop.objects(rules, registered) if with_backstop else ()),
    ]
    click.echo(printed.objects(objects), nl=False)


def _pair(registered: Registration) -> authority.Pair:
    service = f"{registered.service}.{registered.namespace}.svc"
    return authority.issue((service, f"{service}.cluster.local"), clock.now())


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file}: is not text in UTF-8, as a ConfigMap needs it") from None


def _mounted(loaded: Settings, *, own_authority: bool) -> str:
    """Return the settings that hold here, whatever set them, with the paths of the container."""
    folder = deployment.TLS_FOLDER if own_authority else deployment.SETTINGS_FOLDER
    server = msgspec.structs.replace(
        loaded.server,
        cert_file=f"{deployment.TLS_FOLDER}/tls.crt",
        key_file=f"{deployment.TLS_FOLDER}/tls.key",
        ca_file=f"{folder}/{deployment.AUTHORITY}",
    )
    known = loaded.callers
    if known.client_ca_file:
        mounted = f"{deployment.SETTINGS_FOLDER}/{deployment.CLIENT_AUTHORITY}"
        known = msgspec.structs.replace(known, client_ca_file=mounted)
    tree = msgspec.to_builtins(msgspec.structs.replace(loaded, server=server, callers=known))
    return yaml.dump(tree, Dumper=printed.Plain, sort_keys=False)
