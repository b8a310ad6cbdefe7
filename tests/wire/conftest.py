"""One webhook for each module here: the real process, behind real TLS."""

from collections.abc import Iterator

import pytest

from tests.webhook import Webhook, running


@pytest.fixture(scope="module")
def webhook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Webhook]:
    """Give a webhook with settings as shipped."""
    with running(tmp_path_factory.mktemp("webhook")) as process:
        yield process
