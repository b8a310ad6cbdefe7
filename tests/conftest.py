"""What holds for all tests, and the real control plane for each that asks for it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click
import hypothesis
import pytest

from tests.cluster import build, controlplane, namespaces
from tests.cluster.controlplane import ControlPlane
from tests.cluster.errors import ClusterError
from tests.cluster.kubectl import Kubectl

# An example that takes long says that the machine is busy: laws about time are tests of their own.
hypothesis.settings.register_profile(
    "suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")

_LONG_FIRST = ("e2e", "cluster", "wire", "fuzz", "cli")
"""Folders whose files take longest. What is begun last keeps one of two workers waiting least."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add how many random Pods are translated on the real API server."""
    parser.addoption("--translated", type=int, default=200, metavar="N")


@pytest.hookimpl(tryfirst=True)  # before -m looks at the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the control plane, so that -m "not cluster" leaves the fast part."""
    for item in items:
        if isinstance(item, pytest.Function) and "control_plane" in item.fixturenames:
            item.add_marker("cluster")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    return _LONG_FIRST.index(folder) if folder in _LONG_FIRST else len(_LONG_FIRST)


@pytest.fixture(scope="session")
def control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """Give the one control plane of this process: a worker of `scripts/test` has its own."""
    folder = tmp_path_factory.mktemp("control-plane")
    try:
        with _shown(request):  # a first build takes minutes
            programs = build.programs(say=lambda line: click.echo(line, err=True))
        with controlplane.running(folder, programs=programs) as plane:
            yield plane
    except ClusterError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """Give a namespace of the test's own."""
    with namespaces.own(control_plane) as name:
        yield name


@pytest.fixture
def kubectl(control_plane: ControlPlane, namespace: str) -> Kubectl:
    """Give the real kubectl, in the test's namespace."""
    return Kubectl(plane=control_plane, namespace=namespace)


def _shown(request: pytest.FixtureRequest) -> AbstractContextManager[None]:
    capture = request.config.pluginmanager.get_plugin("capturemanager")
    return capture.global_and_fixture_disabled() if capture else nullcontext()
