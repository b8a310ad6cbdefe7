"""What kube-apiserver asks, as it stands in the body and as we read it (admission.k8s.io)."""

from typing import Any, Literal

import msgspec

from berth.model.raw import JsonObject

_LONGEST = 253
"""Characters; no name in Kubernetes is longer, and who is promised something is kept by name."""


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """What kube-apiserver asks. `object` is the raw Pod, or None where there is none (DELETE)."""

    api_version: str
    uid: str
    operation: str
    kind: str
    group: str
    resource: str
    sub_resource: str
    namespace: str
    name: str
    dry_run: bool
    user: str
    object: JsonObject | None
    old_object: JsonObject | None

    @property
    def shown_name(self) -> str:
        """The Pod's name for logs; `train-*` where the API server has yet to end a generateName."""
        metadata = (self.object or {}).get("metadata")
        prefix = metadata.get("generateName") if isinstance(metadata, dict) else None
        named = self.name or (f"{prefix}*" if isinstance(prefix, str) and prefix else "")
        return named[:_LONGEST]

    @property
    def owner(self) -> str:
        """The first owner of the Pod, such as `ReplicaSet/train-7d9f`, or nothing."""
        metadata = (self.object or {}).get("metadata")
        owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
        first = owners[0] if isinstance(owners, list) and owners else None
        if not isinstance(first, dict):
            return ""
        names = (first.get("kind"), first.get("name"))
        return "/".join([name for name in names if isinstance(name, str)])

    @property
    def creates_pod(self) -> bool:
        """Whether this is what we register for: CREATE of a core/v1 Pod itself."""
        return self.operation == "CREATE" and self.of_pod and not self.sub_resource

    @property
    def of_pod(self) -> bool:
        """Whether it is about a core/v1 Pod, or a subresource that shows one."""
        return self.kind == "Pod" and self.resource in ("pods", "") and not self.group

    @property
    def binds_pod(self) -> bool:
        """Whether it sends a Pod to a node; a Binding's annotations become the Pod's."""
        return self.operation == "CREATE" and self.kind == "Binding" and not self.group


class Kind(msgspec.Struct, frozen=True):
    """What the object is."""

    kind: str | None = None
    group: str | None = None


class Resource(msgspec.Struct, frozen=True):
    """Where it was sent to."""

    resource: str | None = None


class UserInfo(msgspec.Struct, frozen=True):
    """Who sent it."""

    username: str | None = None


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of an AdmissionRequest that we read; null is as good as absent, as in Go."""

    uid: str
    operation: str | None = None
    kind: Kind | None = None
    resource: Resource | None = None
    sub_resource: str | None = None
    namespace: str | None = None
    name: str | None = None
    dry_run: bool | None = None
    user_info: UserInfo | None = None
    object: dict[str, Any] | None = None
    old_object: dict[str, Any] | None = None


class AdmissionReview(msgspec.Struct, frozen=True, rename="camel"):
    """A request body."""

    api_version: Literal["admission.k8s.io/v1", "admission.k8s.io/v1beta1"]
    kind: Literal["AdmissionReview"]
    request: Request
