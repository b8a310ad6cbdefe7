"""What came of simulated runs, as a table for a terminal."""

from statistics import fmean

from berth.simulator.result import Result


def lines(results: list[Result]) -> list[str]:
    """Return a line for each run, and the mean of each policy with several seeds."""
    head = f"{'policy':<14} {'trace':<12} {'seed':>5} {'GPUs %':>8} {'fragm. %':>9}"
    said = [f"{head} {'rejected %':>10} {'failed':>7}"]
    for policy in dict.fromkeys(done.policy for done in results):
        runs = [done for done in results if done.policy == policy]
        said += [_line(done, str(done.seed)) for done in runs]
        if len(runs) > 1:
            allocated = fmean(done.gpu_allocation_percent for done in runs)
            fragmented = fmean(done.fragmentation_percent for done in runs)
            rejected = fmean(done.rejected_percent for done in runs)
            failed = fmean(done.failed_pods for done in runs)
            said.append(
                f"{policy:<14} {runs[0].trace:<12} {'mean':>5} "
                f"{allocated:8.2f} {fragmented:9.2f} {rejected:10.2f} {failed:7.0f}"
            )
    return said


def _line(done: Result, seed: str) -> str:
    return (
        f"{done.policy:<14} {done.trace:<12} {seed:>5} {done.gpu_allocation_percent:8.2f} "
        f"{done.fragmentation_percent:9.2f} {done.rejected_percent:10.2f} {done.failed_pods:7}"
    )
