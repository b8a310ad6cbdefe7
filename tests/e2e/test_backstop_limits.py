"""The backstop of a configuration with many vendors: the API server bears it."""

from dataclasses import replace

from berth import layered
from berth.admission import backstop, configuration, mutate
from berth.admission.rules import Rules
from berth.dialects.options import Options
from berth.model.decision import Verdict
from berth.settings import Registration
from tests import pods
from tests.e2e import guarded
from tests.e2e.api import Api

NVIDIA = configuration.rules(layered.settings(None), None)[0].vendors[0]


def _many(vendors: int) -> Rules:
    """Return Rules of so many vendors, each with nearly all that a vendor may have."""
    many = [
        replace(
            NVIDIA,
            name=f"vendor-{index}",
            domain=f"vendor-{index}.example.com/",
            count=f"vendor-{index}.example.com/count",
            memory=f"vendor-{index}.example.com/memory",
            memory_percent=f"vendor-{index}.example.com/memory-percent",
            cores=f"vendor-{index}.example.com/cores",
            priority=f"vendor-{index}.example.com/priority",
            hide_from_others=True,
            core_policy="force",
        )
        for index in range(vendors)
    ]
    options = Options(vendors=tuple(many), scheduler_name="hami-scheduler")
    return Rules(options=options, excluded_namespaces=frozenset({"kube-system"}))


def test_thirty_resources_of_six_vendors_are_within_its_limits(api: Api) -> None:
    """The API server takes the policy, and evaluates it for a large Pod within its cost budget."""
    rules = _many(6)
    assert len(rules.known) == 30
    registered = Registration(only_labelled_namespaces=True, name="tested")
    objects = backstop.objects(rules, registered)
    limits = {f"vendor-5.example.com/{kind}": "1" for kind in ("count", "cores", "priority")}
    containers = [pods.container(f"c{index}", limits, env=_env(60)) for index in range(100)]
    large = pods.pod(*containers)
    del large["metadata"]["namespace"]
    assert mutate.decide(large, "default", rules).verdict is Verdict.PATCHED
    rewritten = mutate.decide(large, "default", rules).pod
    bad = pods.pod(pods.container(limits=limits), metadata={"namespace": ""})
    with guarded.in_force(api, objects, bad) as space:
        assert guarded.type_warnings(api, objects[0]) == []
        assert api.create(large, space, dry_run=True)[0] == 403
        status, answer = api.create(rewritten, space, dry_run=True)
        assert status == 201, answer


def _env(count: int) -> list[dict[str, str]]:
    return [{"name": f"A{index}", "value": "v"} for index in range(count)]
