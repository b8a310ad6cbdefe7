"""A small client of the real API server: one kept connection, answers with their status."""

import http.client
import json
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.cluster import components, probe
from tests.cluster.controlplane import ControlPlane

Object = dict[str, Any]
_IDLE_SECONDS = 20


@dataclass
class Api:
    """Talks to the API server of `plane` as the administrator."""

    plane: ControlPlane
    connection: http.client.HTTPSConnection = field(init=False)
    _used: float = 0
    warnings: list[str] = field(default_factory=list)
    """Warning headers of the last answer."""

    def __post_init__(self) -> None:
        """Open the connection."""
        trust = probe.trust(components.certificates(self.plane.folder))
        host = urlsplit(self.plane.url).netloc
        self.connection = http.client.HTTPSConnection(host, timeout=30, context=trust)

    def ask(
        self,
        method: str,
        path: str,
        body: Object | list[Object] | None = None,
        content_type: str = "application/json",
    ) -> tuple[int, Object]:
        """Return the status and the object of one answer."""
        data = None if body is None else json.dumps(body)
        now = time.monotonic()
        if now - self._used > _IDLE_SECONDS:
            self.connection.close()  # the API server may have, and the next request opens it anew
        self._used = now
        self.connection.request(method, path, data, {"Content-Type": content_type})
        answer = self.connection.getresponse()
        content = answer.read()
        self.warnings = answer.headers.get_all("Warning") or []
        found: Object = json.loads(content)
        return answer.status, found

    def create(self, pod: Object, namespace: str, *, dry_run: bool = False) -> tuple[int, Object]:
        """Create a Pod in `namespace`."""
        query = "?dryRun=All" if dry_run else ""
        return self.ask("POST", f"/api/v1/namespaces/{namespace}/pods{query}", pod)

    def stored(self, pod: Object, namespace: str) -> Object:
        """Create a Pod and return it as it is stored afterwards."""
        status, created = self.create(pod, namespace)
        assert status == 201, created
        path = f"/api/v1/namespaces/{namespace}/pods/{created['metadata']['name']}"
        status, found = self.ask("GET", path)
        assert status == 200, found
        return found
