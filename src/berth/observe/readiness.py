"""Whether the API server should send us Pods, and what an operator should know besides."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Readiness:
    """Filled in by what knows, read by /readyz. Both are sentences by the name of their subject."""

    missing: dict[str, str] = field(default_factory=lambda: {"server": "starting"})
    """Why we are not ready: empty is ready."""
    notes: dict[str, str] = field(default_factory=dict)
    """What is wrong and yet no reason to send Pods elsewhere."""

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing

    def text(self) -> str:
        """Say it in lines, for a person who asks /readyz."""
        lines = [f"not ready: {name}: {why}" for name, why in self.missing.copy().items()]
        lines += [f"{name}: {why}" for name, why in self.notes.copy().items()]
        return "\n".join(lines if self.missing else ["ok", *lines])
