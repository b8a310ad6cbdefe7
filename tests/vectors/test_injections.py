"""Vectors C10 to C12 and K14: what the settings add to containers with a device."""

from typing import Any

import pytest

from berth.settings import EnvEntry, Injection
from tests.pods import Pod, container, pod
from tests.vectors import laws

GPU = {"nvidia.com/gpu": "1"}
LIBS = {"name": "libs", "hostPath": {"path": "/usr/local/vgpu"}}
CACHE = {"name": "cache", "emptyDir": {}}
MOUNTS = ({"name": "libs", "mountPath": "/opt/libs"}, {"name": "cache", "mountPath": "/opt/cache"})
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def adding(**what: Any) -> laws.Decide:
    """Return an injection of the settings as a decision."""
    rules = laws.rules(injections=(Injection(name="extra", **what),))
    return laws.injecting(rules, "extra")


VOLUMES = adding(volumes=(LIBS, CACHE), volume_mounts=MOUNTS)


def user(**more: Any) -> Pod:
    """Return a container with a device."""
    return container(limits=GPU, **more)


def test_c10_lacking_lists_are_made_once() -> None:
    """The first entry makes the list and the second is appended, not a list made anew."""
    outcome = laws.patched(pod(container("plain"), user()), VOLUMES)
    assert outcome.pod["spec"]["volumes"] == [LIBS, CACHE]
    plain, main = outcome.pod["spec"]["containers"]
    assert "volumeMounts" not in plain
    assert main["volumeMounts"] == [*MOUNTS]
    appended = [one["path"] for one in outcome.operations if one["path"].endswith("/-")]
    assert appended in ([], ["/spec/containers/1/volumeMounts/-", "/spec/volumes/-"])


def test_c10_lists_of_the_user_are_appended_to() -> None:
    """The user's volumes and mounts keep their places."""
    token = {"name": "token", "projected": {"sources": []}}
    mount = {"name": "token", "mountPath": "/var/run/secrets"}
    outcome = laws.patched(pod(user(volumeMounts=[mount]), volumes=[token]), VOLUMES)
    assert outcome.pod["spec"]["volumes"] == [token, LIBS, CACHE]
    assert outcome.pod["spec"]["containers"][0]["volumeMounts"] == [mount, *MOUNTS]


def test_c11_what_is_there_already_is_used() -> None:
    """An identical volume or mount of the user is ours as well; there is never a second."""
    there = pod(user(volumeMounts=[*MOUNTS]), volumes=[CACHE, LIBS])
    assert "warnings" not in laws.untouched(there, VOLUMES).response


def test_c11_what_the_api_server_defaulted_is_still_ours() -> None:
    """In a reinvocation our volume comes back with defaults in it, and is known again."""
    defaulted = LIBS | {"hostPath": {"path": "/usr/local/vgpu", "type": ""}}
    there = pod(user(volumeMounts=[one | {"readOnly": False} for one in MOUNTS]))
    there["spec"]["volumes"] = [defaulted, CACHE]
    assert "warnings" not in laws.untouched(there, VOLUMES).response


@pytest.mark.parametrize(
    "taken",
    [
        pytest.param(pod(user(), volumes=[LIBS | {"hostPath": {"path": "/"}}]), id="volume"),
        pytest.param(
            pod(user(volumeMounts=[{"name": "mine", "mountPath": "/opt/libs"}])), id="mountPath"
        ),
        pytest.param(
            pod(user(volumeMounts=[{"name": "mine", "mountPath": "/opt/libs/"}])), id="mountPath/"
        ),
    ],
)
def test_c11_a_name_or_path_that_the_user_took_is_refused(taken: Pod) -> None:
    """Another volume of our name would be mounted as ours, and two cannot share a path."""
    message = laws.refused(taken, 422, VOLUMES)
    assert "libs" in message


PRELOAD = adding(env=(EnvEntry(name="LD_PRELOAD", value="/opt/ours.so", joined_by=":"),))


@pytest.mark.parametrize(
    ("theirs", "after"),
    [
        (None, "/opt/ours.so"),
        ("", "/opt/ours.so"),
        ("/a.so", "/opt/ours.so:/a.so"),
        ("/a.so:/b.so", "/opt/ours.so:/a.so:/b.so"),
        ("/opt/ours.so.1", "/opt/ours.so:/opt/ours.so.1"),
    ],
)
def test_c12_a_preload_of_the_user_is_joined(theirs: str | None, after: str) -> None:
    """Ours goes first and what the user preloads stays; the command is not touched."""
    env = [] if theirs is None else [{"name": "LD_PRELOAD", "value": theirs}]
    outcome = laws.patched(pod(user(env=env, command=["python"])), PRELOAD)
    main = outcome.pod["spec"]["containers"][0]
    assert main["env"] == [{"name": "LD_PRELOAD", "value": after}]
    assert main["command"] == ["python"]


def test_c12_a_preload_that_names_ours_stays() -> None:
    """Joined once is enough, wherever ours stands."""
    env = [{"name": "LD_PRELOAD", "value": "/a.so:/opt/ours.so"}]
    laws.untouched(pod(user(env=env)), PRELOAD)


@pytest.mark.parametrize("entry", [{"valueFrom": {"fieldRef": {"fieldPath": "x"}}}, {"value": "v"}])
def test_c12_a_variable_that_cannot_be_joined_is_the_users(entry: Pod) -> None:
    """Without a way to merge, the user's value is kept, and a warning says so."""
    decide = adding(env=(EnvEntry(name="LD_PRELOAD", value="/opt/ours.so"),))
    asked = pod(user(env=[{"name": "LD_PRELOAD", **entry}]))
    (warning,) = laws.untouched(asked, decide).response["warnings"]
    assert warning.startswith("spec.containers[0].env: LD_PRELOAD is kept")


def test_an_annotation_that_is_right_already_stays() -> None:
    """As in a second pass; only of another value it is said that the Pod's is kept."""
    decide = adding(annotations={"example.com/a": "b"})
    there = {"annotations": {"example.com/a": "b"}}
    assert "warnings" not in laws.untouched(pod(user(), metadata=there), decide).response


@pytest.mark.parametrize("theirs", [["true"], ["false", "true"]], ids=str)
def test_what_the_settings_inject_is_the_users_to_set_with_that_value_alone(
    theirs: list[str],
) -> None:
    """Else an injection that keeps the limiter on would open the way to turn it off."""
    injection = Injection(name="on", env=(EnvEntry(name="CUDA_DISABLE_CONTROL", value="false"),))
    decide = laws.deciding(laws.rules(injections=(injection,)))
    env = [{"name": "CUDA_DISABLE_CONTROL", "value": value} for value in ("false", *theirs)]
    laws.patched(pod(user(env=env[:1])), decide)
    laws.refused(pod(user(env=env[1:])), 403, decide)


def test_k14_a_lacking_toleration_is_added_once() -> None:
    """However many containers have a device, the Pod has one toleration."""
    asked = pod(container("a", GPU), container("b", GPU))
    outcome = laws.patched(asked, adding(tolerations=(TOLERATION,)))
    assert outcome.pod["spec"]["tolerations"] == [TOLERATION]
    other = {"key": "other", "operator": "Equal", "value": "a"}
    outcome = laws.patched(
        asked | pod(user(), tolerations=[other]), adding(tolerations=(TOLERATION,))
    )
    assert outcome.pod["spec"]["tolerations"] == [other, TOLERATION]


@pytest.mark.parametrize(
    "present",
    [
        TOLERATION,
        TOLERATION | {"tolerationSeconds": None},
        {"operator": "Exists"},
        {"operator": "Exists", "effect": "NoSchedule"},
        {"key": "nvidia.com/gpu", "operator": "Exists"},
    ],
)
def test_k14_what_tolerates_as_much_is_enough(present: Pod) -> None:
    """`Exists` without a key tolerates every taint."""
    asked = pod(user(), tolerations=[present])
    laws.untouched(asked, adding(tolerations=(TOLERATION,)))


@pytest.mark.parametrize(
    "present",
    [
        {"operator": "Exists", "effect": "NoExecute"},
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "x", "effect": "NoSchedule"},
    ],
)
def test_k14_what_tolerates_less_is_not_enough(present: Pod) -> None:
    """A toleration of another effect or of one value leaves a node of the pool closed."""
    outcome = laws.patched(pod(user(), tolerations=[present]), adding(tolerations=(TOLERATION,)))
    assert outcome.pod["spec"]["tolerations"] == [present, TOLERATION]
