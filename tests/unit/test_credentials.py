"""What is said of a cluster that cannot be asked holds no credential of the kubeconfig."""

import asyncio
from pathlib import Path

import pytest

from berth.cluster import connection, kube
from berth.errors import ReadFailed, UsageError

SECRET = "planted-token"
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: a
contexts: [{{name: a, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users:
- name: u
  user:
    {user}
"""
FAULTY = {
    "a token that ends with its line": f'token: "{SECRET}\\n"',
    "a token with a break in it": f'token: "a\\n{SECRET}"',
    "no YAML": f"token: {SECRET}: b",
    "what YAML takes for a tag": f"token: !{SECRET}",
    "what YAML takes for an alias": f"token: *{SECRET}",
    "YAML that is cut off": f'token: "{SECRET}',
}


@pytest.mark.parametrize("user", FAULTY.values(), ids=FAULTY.keys())
def test_a_faulty_kubeconfig_is_told_without_its_token(user: str, tmp_path: Path) -> None:
    """These sentences go to the log, at each try."""
    file = tmp_path / "kubeconfig"

    async def told() -> list[str]:
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        file.write_text(KUBECONFIG.format(port=port, user=user))
        async with server:
            with pytest.raises(UsageError) as secret:
                await kube.secret(kube.configuration(file), "default", "a")
            with pytest.raises(ReadFailed) as page:
                async with connection.connect(file) as api:
                    await api.get("/api/v1/nodes", {}, 5)
        return [str(secret.value), str(page.value)]

    for sentence in asyncio.run(told()):
        assert SECRET not in sentence
        assert len(sentence) > 40, "it says what is wrong"
