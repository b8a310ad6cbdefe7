"""The real control plane for every test that asks for it, started at the first that does."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import click
import pytest

from tests.cluster import build, controlplane, namespaces
from tests.cluster.controlplane import ControlPlane
from tests.cluster.errors import ClusterError
from tests.cluster.kubectl import Kubectl


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add how many random Pods are translated on the real API server."""
    parser.addoption("--translated", type=int, default=200, metavar="N")


@pytest.hookimpl(tryfirst=True)  # before -m looks at the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the control plane, so that -m "not cluster" leaves the fast part."""
    for item in items:
        if isinstance(item, pytest.Function) and "control_plane" in item.fixturenames:
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def control_plane(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """Give the one control plane of the whole run."""
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
