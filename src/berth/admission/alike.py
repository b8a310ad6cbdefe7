"""Reviews that differ only in what is each Pod's own: such are answered alike.

Of the Pods of one ReplicaSet, kube-apiserver's reviews differ in few places: the review's uid, the
name of the token volume (which the ServiceAccount plugin ends in five random characters), times in
managedFields, and the Pod's name, uid and time of creation once it has them, which is before it is
validated. No decision reads any of them.
"""

import re
from typing import NamedTuple

MOST_BYTES = 16 * 1024
"""What is longer is not kept: few Pods are."""
OWN = b"~own~"
"""What stands in the place of each. It is no uid, name or time that the API server gives."""
# Keys in the order in which Go's encoder writes them; in another, a review is like no other.
_START = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"'
_UID = re.compile(rb"[0-9a-f-]{36}(?=\")")
_KIND = b'"kind":{"group":"","version":"v1","kind":"Pod"}'
_RESOURCE = b'"resource":{"group":"","version":"v1","resource":"pods"}'
_KINDS = b'",%b,%b,%b,%b,' % (
    _KIND,
    _RESOURCE,
    _KIND.replace(b"kind", b"requestKind", 1),
    _RESOURCE.replace(b"resource", b"requestResource", 1),
)
_NAME = re.compile(rb'"name":"([a-z0-9.-]{1,253})",(?="namespace":")')
_NAMELESS = _START + OWN
_NAMED = b'%b%b"name":"%b",' % (_NAMELESS, _KINDS, OWN)
_POD = b'"metadata":{"name":"%b",'
_POD_ALIKE = _POD % OWN
_SPEC = b'"spec":{'
_BORN = re.compile(rb'"uid":"[0-9a-f-]{36}",("generation":1,)"creationTimestamp":"[0-9TZ:-]{20}",')
_BORN_ALIKE = rb'"uid":"%b",\1"creationTimestamp":"%b",' % (OWN, OWN)
_TIME = re.compile(rb'"time":"[0-9TZ:-]{20}",(?="fieldsType":"FieldsV1")')
_TIME_ALIKE = b'"time":"%b",' % OWN
_TOKEN = re.compile(
    rb'\{"name":"(kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5})","projected":\{'
)
_VOLUME = b'{"name":"%b",'
_VOLUME_ALIKE = _VOLUME % OWN
_PROJECTED = b'"projected":{'
_MOUNTED = b'"readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}'


class Asked(NamedTuple):
    """A review in two parts: what is its own, and what it may share with others."""

    uid: bytes
    name: bytes
    """Of the Pod, empty where it has none yet."""
    rest: bytes
    """The body with OWN in each of these places: a review too."""


def asked(body: bytes) -> Asked | None:
    """Part the body of a review; None where it is not as kube-apiserver writes it for a Pod."""
    found = _UID.match(body, len(_START))
    if found is None or len(body) > MOST_BYTES or not body.startswith(_START):
        return None
    if not body.startswith(_KINDS, found.end()):
        return None
    named = _NAME.match(body, found.end() + len(_KINDS))
    name = named[1] if named else b""
    metadata, _, spec = body[(named or found).end() :].partition(_SPEC)
    # bytes.find: `in` first takes what it looks for as a number, and makes an error of it (3.11).
    if metadata.find(b'"managedFields":[') >= 0:
        metadata = _TIME.sub(_TIME_ALIKE, metadata)
    first = _NAMELESS
    if named:
        first = _NAMED
        metadata = metadata.replace(_POD % name, _POD_ALIKE, 1)
        if metadata.find(b'"generation":1,') >= 0:
            metadata = _BORN.sub(_BORN_ALIKE, metadata)
    return Asked(found[0], name, b"".join((first, metadata, _SPEC, _without_token(spec))))


def _without_token(spec: bytes) -> bytes:
    at = spec.find(b'{"name":"kube-api-access-')
    found = _TOKEN.match(spec, at) if at >= 0 else None
    if found is None:
        return spec
    spec = spec.replace(found[0], _VOLUME_ALIKE + _PROJECTED, 1)
    return spec.replace(_VOLUME % found[1] + _MOUNTED, _VOLUME_ALIKE + _MOUNTED)
