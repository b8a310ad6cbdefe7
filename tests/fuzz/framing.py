"""Requests whose HTTP is wrong, or whose caller goes away; each on a connection of its own."""

import random

from tests.fuzz.case import JSON_HEAD, MOST, Case
from tests.fuzz.values import SECRET

_START = f"POST /mutate HTTP/1.1\r\nHost: webhook\r\n{JSON_HEAD}\r\n".encode()


def make(dice: random.Random, body: bytes) -> Case:
    """Return an honest body in a dishonest frame."""
    length = b"Content-Length: %d\r\n" % len(body)
    chunked = b"Transfer-Encoding: chunked\r\n"
    whole = length + b"\r\n" + body
    chunk = b"%x\r\n%s\r\n" % (len(body), body)
    token = SECRET.encode()
    wrong = (
        *(_START + b"Content-Length: %s\r\n\r\n" % one for one in (b"-1", b"x", b"1e3", b"0x10")),
        *(_START + b"Content-Length: %s\r\n\r\n" % one for one in (b"9" * 30, b"+5", b"", b"5, 6")),
        _START + length + b"Content-Length: 5\r\n\r\n" + body,
        _START + length + chunked + b"\r\n" + chunk + b"0\r\n\r\n",
        _START + b"Transfer-Encoding: x\r\n\r\n" + chunk,
        _START + b"Transfer-Encoding: chunked, identity\r\n\r\n" + chunk + b"0\r\n\r\n",
        *(_START + chunked + b"\r\n" + size + b"\r\n" + body for size in (b"-5", b"zz", b"f" * 40)),
        _START + chunked + b"\r\n" + b"1\r\n{\r\n" * 300 + b"0\r\n\r\n",
        _START + chunked + b"\r\n" + b"5;x=%s\r\n" % (b"y" * 9000) + b"12345\r\n0\r\n\r\n",
        _START + b"Authorization : Bearer %s\r\n" % token + whole,
        _START + b"X-Token\x00%s: 1\r\n" % token + whole,
        _START + b"X: a\x01b%s\r\n" % token + whole,
        _START + b"Bearer %s\r\n" % token + whole,
        _START + b" Bearer %s folded\r\n" % token + whole,
        _START.replace(b"HTTP/1.1", b"HTTP/9.9") + whole,
        _START.replace(b"HTTP/1.1", b"HTTP/1.0") + whole,
        _START.replace(b"HTTP/1.1", token) + whole,
        _START.replace(b"POST", b"P\xff\x00ST") + whole,
        _START.replace(b"POST", b"HEAD") + whole,
        _START.replace(b"/mutate", b"http://[::1") + whole,
        _START.replace(b"/mutate", b"*") + whole,
        _START.replace(b"/mutate", b"/mutate\x00" + token) + whole,
        _START.replace(b"/mutate", b"/" + b"x" * 20000) + whole,
        _START.replace(b"Host: webhook\r\n", b"") + whole,
        _START.replace(b"\r\n", b"\n") + whole.replace(b"\r\n", b"\n"),
        b"\r\n\r\n" + _START + whole,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01" + dice.randbytes(200),
        dice.randbytes(dice.randint(1, 5000)) + b"\r\n\r\n",
        token * 300 + b"\r\n\r\n",
    )
    cut = _START + whole
    broken = (
        *(cut[: dice.randrange(1, len(cut))], cut[: dice.randrange(1, len(cut))]),
        _START + chunked + b"\r\n" + chunk[: dice.randrange(len(chunk))],
        _START + b"Content-Length: %d\r\n\r\n" % (MOST - 1) + body,
        cut * 5,  # answered or not: nobody reads it
    )
    if dice.random() < 0.5:
        return Case("framing", body, raw=dice.choice(wrong))
    return Case("broken off", body, raw=dice.choice(broken), ends=True)
