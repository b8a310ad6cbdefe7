"""`berth manifests`: all that a cluster needs, as YAML for kubectl apply."""

from pathlib import Path

import click
import yaml

from berth import __version__, clock
from berth import settings as configured
from berth.admission import configuration, registration
from berth.certs import authority
from berth.cli import deployment, options
from berth.errors import UsageError
from berth.model.raw import JsonObject


@click.command()
@click.option("--image", default=f"berth:{__version__}", show_default=True)
@click.option("--replicas", default=2, show_default=True, type=click.IntRange(1))
@click.option(
    "--tls-secret",
    help="A Secret that is there (tls.crt, tls.key); else one is made and printed, key included.",
)
@click.option("--ca-file", type=options.FILE, help="PEM bundle that vouches for --tls-secret.")
@options.configuration
def command(
    *,
    image: str,
    replicas: int,
    tls_secret: str | None,
    ca_file: Path | None,
    config: Path | None,
    device_config: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Print what to apply to run Berth in a cluster.

    Pipe it into `kubectl apply -f -`; the webhook configuration comes last.
    """
    loaded = configured.load(config, settings)
    rules, warnings = configuration.rules(loaded, device_config)
    for warning in warnings:
        click.echo(f"berth: {warning}", err=True)
    if (tls_secret is None) != (ca_file is None):
        raise UsageError("--tls-secret and --ca-file go together; give both or neither")
    registered = loaded.registration
    objects = [deployment.namespace(registered)]
    if tls_secret is None or ca_file is None:
        service = f"{registered.service}.{registered.namespace}.svc"
        pair = authority.issue((service, f"{service}.cluster.local"), clock.now())
        bundle = pair.authority
        tls_secret = f"{registered.service}-tls"
        objects.append(deployment.secret(registered, tls_secret, pair))
    else:
        bundle = ca_file.read_bytes()
    files = {"settings.yaml": config, "device-config.yaml": device_config}
    objects += deployment.access(registered)
    objects += deployment.workload(
        registered,
        deployment.Choice(
            image=image,
            replicas=replicas,
            tls_secret=tls_secret,
            port=loaded.server.port,
            files={name: file.read_text() for name, file in files.items() if file},
            sets=settings,
        ),
    )
    objects.append(registration.configuration(rules, registered, bundle))
    click.echo(_yaml(objects), nl=False)


class _Plain(yaml.SafeDumper):
    """Writes a value out each time that it stands somewhere: people read this."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  yaml's signature
        return True


def _yaml(objects: list[JsonObject]) -> str:
    return yaml.dump_all(objects, Dumper=_Plain, sort_keys=False, explicit_start=True)
