"""How turns become the figures and the verdicts of `scripts/bench admission`."""

from collections.abc import Sequence

from benchmarks.load import Turn
from benchmarks.report import report
from benchmarks.results import Case, Results, best_case


def case(server: str, micros: Sequence[float], body: str = "gpu") -> Case:
    """Return a case at 25 connections whose turns cost so much, in two rounds of a few turns."""
    turns = [Turn(0.5, cost / 1e6, [0.001, 0.002]) for cost in micros]
    half = len(turns) // 2
    return best_case(server, body, 25, [turns[:half], turns[half:]])


def test_a_case_is_its_cheapest_turn_with_the_median_beside_it() -> None:
    """A burst in a round makes neither figure worse while half of the turns are quiet."""
    found = case("berth", [200, 210, 220, 900, 900, 230])
    assert (found.cpu_us, found.cpu_median_us) == (200.0, 225.0)
    assert found.cpu_turns_us == [200.0, 210.0, 220.0, 900.0, 900.0, 230.0]
    assert (found.rps, found.p50_ms, found.p99_ms) == (4.0, 1.0, 2.0)


def test_turns_that_followed_each_other_are_compared() -> None:
    """A quiet moment that the floor alone met makes it look cheap, in one turn of four."""
    berth, floor = case("berth", [600, 600, 600, 600]), case("floor", [300, 300, 300, 100])
    assert berth.times(floor) == 6.0
    assert berth.times_by_turns(floor) == 2.0


def test_the_report_holds_both_loads_and_the_translation_to_their_bars() -> None:
    """Remembered Pods may meet a bar that new ones miss, and each is said in words."""
    found = report(
        Results(
            [
                case("berth", [120, 130]),
                case("berth-unlike", [200, 210]),
                case("berth-volcano", [250, 260]),
                case("floor", [100, 100]),
                case("flask-jsonpatch", [1000, 1000]),
            ],
            [],
        )
    )
    for line in (
        "Pods of one workload (berth):",
        "  gpu     1.20x (1.25x) of floor, at most 1.8x: met",
        "  gpu     8.33x (8.01x) cheaper than flask-jsonpatch, at least 7.0x: met",
        "Pods that are all different (berth-unlike):",
        "  gpu     2.00x (2.05x) of floor, at most 1.8x: NOT MET",
        "  gpu     5.00x (4.88x) cheaper than flask-jsonpatch, at least 7.0x: NOT MET",
        "Pods that are all different, translated for Volcano (berth-volcano):",
        "  gpu     1.25x (1.24x) of berth-unlike, at most 1.3x: met",
        "  train  not measured: berth-volcano, berth-unlike",
    ):
        assert line in found.splitlines()


def test_json_keeps_its_keys() -> None:
    """Whoever reads `--json` finds what was there before, and the median and turns beside it."""
    (found,) = Results([case("berth-unlike", [200, 210])], []).as_json()["cases"]
    before = {"server", "body", "connections", "cpu_us", "rps", "p50_ms", "p99_ms"}
    assert set(found) == before | {"cpu_median_us", "cpu_turns_us"}
    assert found["server"] == "berth-unlike"
