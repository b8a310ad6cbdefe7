"""The webhook that the modules here send hostile bodies to."""

from collections.abc import Iterator

import pytest

from tests.fuzz import campaign
from tests.fuzz.load import Target
from tests.webhook import Webhook


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Webhook, Target]]:
    """Give a webhook with an injection, and with all else as shipped."""
    with campaign.server(tmp_path_factory.mktemp("server")) as running:
        yield running
