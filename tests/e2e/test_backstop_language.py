"""The backstop's own words, in a file of its own: no other policy is in force beside it."""

from tests import pods
from tests.e2e import guarded
from tests.e2e.api import Api


def test_it_speaks_the_language_of_the_settings(api: Api) -> None:
    """Also of what only the API server knows: which container, and what it lacks."""
    pod = pods.gpu_pod({"nvidia.com/gpu": "1"}, schedulerName="hami-scheduler")
    pod["metadata"] = {"name": "train"}
    objects = guarded.printed("--set", "language=zh", name="chinese")
    with guarded.in_force(api, objects, pod) as space:
        told = (
            "GPU Webhook 没有改写此 Pod：容器 main 缺少 nvidia.com/gpucores；"
            "请稍后重试，如果问题依旧，请告知集群管理员"
        )
        assert api.create(pod, space, dry_run=True)[1]["message"].endswith(told)
