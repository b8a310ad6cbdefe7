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


NO_KUBECONFIG = {
    "no lists": ("kind: Pod", "nothing in it is called 'clusters'"),
    "a context of no cluster": (
        "{current-context: a, contexts: [{name: a, context: {cluster: c}}], clusters: []}",
        "nothing in it is called 'c'",
    ),
    "text": ("just text", "what is there is no kubeconfig"),
    "a list": ("[]", "what is there is no kubeconfig"),
    "numbers for lists": ("{clusters: 1, contexts: 1}", "what is there is no kubeconfig"),
    "a pit": ("[" * 900 + "]" * 900, "what is there is no kubeconfig"),
    "a program": ("\x7f\xff", "what is there is no kubeconfig"),
}


@pytest.mark.parametrize(("text", "why"), NO_KUBECONFIG.values(), ids=NO_KUBECONFIG.keys())
def test_what_is_no_kubeconfig_is_said_without_pythons_words(
    text: str, why: str, tmp_path: Path
) -> None:
    """The library leaves it at a KeyError and the like."""
    file = tmp_path / "kubeconfig"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as error:
        kube.configuration(file)
    assert str(error.value).startswith(f"{file}: no cluster to talk to ({why}); give a ")


def test_a_list_of_kubeconfigs_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As kubectl takes it: a path with a colon in it, which is not found, would puzzle."""
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/a:{tmp_path}/b")
    with pytest.raises(UsageError, match="Berth reads only one, by --kubeconfig"):
        kube.configuration(None)


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
