"""Types of settings whose values have bounds; the description says them to people."""

from typing import Annotated, TypeAlias

from msgspec import Meta

_DAY = 86400  # refuses infinity, and what timers cannot hold

Port: TypeAlias = Annotated[int, Meta(ge=0, le=65535, description="a whole number from 0 to 65535")]
ServicePort: TypeAlias = Annotated[
    int, Meta(ge=1, le=65535, description="a whole number from 1 to 65535")
]
Timeout: TypeAlias = Annotated[int, Meta(ge=1, le=30, description="a whole number from 1 to 30")]
Duration: TypeAlias = Annotated[float, Meta(ge=0, le=_DAY, description="a number from 0 to 86400")]
Count: TypeAlias = Annotated[
    int, Meta(ge=1, le=1_000_000, description="a whole number from 1 to 1000000")
]
Bytes: TypeAlias = Annotated[
    int, Meta(ge=8 * 2**20, le=2**40, description="a whole number of bytes, 8388608 at least")
]
# Below a second is for tests: it would busy the API server, or close connections at once.
Interval: TypeAlias = Annotated[
    float, Meta(ge=0.1, le=_DAY, description="a number from 0.1 to 86400")
]
# Below some minutes is for tests: a tenth of a thousandth is 8.6 seconds.
Days: TypeAlias = Annotated[
    float, Meta(ge=0.0001, le=3650, description="a number from 0.0001 to 3650")
]

Factor: TypeAlias = Annotated[float, Meta(ge=1, le=16, description="a number from 1 to 16")]
Mib: TypeAlias = Annotated[
    int, Meta(ge=0, le=2**20 - 1, description="a whole number of MiB from 0 to 1048575")
]
Block: TypeAlias = Annotated[
    int, Meta(ge=1, le=65536, description="a whole number of MiB from 1 to 65536")
]
Minor: TypeAlias = Annotated[int, Meta(ge=8, le=99, description="a whole number from 8 to 99")]

Text: TypeAlias = Annotated[str, Meta(min_length=1, description="a text that is not empty")]
AddressRange: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[0-9A-Fa-f:.]+(/\d{1,3})?\Z",
        description="a range of addresses such as 10.0.0.0/8 or fd00::/8",
    ),
]
Name: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z",
        description="a name of up to 63 lower-case letters, digits and inner dashes",
    ),
]
Pair: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[\w.-]+:[\w.-]+\Z",
        description="two names with a colon between, such as inference:training",
    ),
]
Label: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^(([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?"
        r"=([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?)?\Z",
        description="a label such as berth.dev/mode=audit, or nothing",
    ),
]
Url: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^(https://([\w.-]+|\[[0-9A-Fa-f:.]+\])"
        r"(:(6553[0-5]|655[0-2]\d|65[0-4]\d\d|6[0-4]\d{3}|[1-5]\d{4}|[1-9]\d{0,3}))?"
        r"(/[^\s?#]*)?)?\Z",  # the API server takes no query and no fragment
        description="an address such as https://host:port, or nothing",
    ),
]
