"""Pieces of JSON text, right and wrong, to stand where something else is expected."""

SECRET = "s3cret-of-the-user"
"""Stands in every value of a variable that we send, and must stand in no log line."""

NUMBERS = tuple(
    text.encode()
    for text in (
        *("0", "-0", "1", "-1", "7", "0.5", "-0.5", "1.0", "1.50", "1e3", "1E+2", "1e-9", "1e22"),
        *("9007199254740993", "9223372036854775807", "9223372036854775808"),
        *("-9223372036854775809", "18446744073709551615", "18446744073709551616"),
        *("1e308", "1e309", "1e400", "-1e400", "1e-400", "1e99999", "1" * 400, "0." + "3" * 400),
        *("NaN", "-NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1_0", "--1"),
    )
)
QUANTITIES = tuple(
    f'"{text}"'.encode()
    for text in (
        *("", " ", "0", "1", "-1", "+1", " 1", "1 ", "-0", "00", "007", "1.", ".5", ".", "+", "-"),
        *("1k", "1K", "1Ki", "1ki", "16Gi", "1E", "1Ei", "1Ee3", "1e3", "1E3", "1e+3", "1e-3"),
        *("1e999", "-1e999", "1e-999", "1e1000", "1e99999999999", "1.5e999", "0e999", "1ee3"),
        *("500m", "1500m", "0.5", "1u", "1n", "0.0000000001", "100m%", "50%", "1,5", "1_000"),
        *("9223372036854775807", "9223372036854775808", "1" * 64, "1" * 65, "1" * 5000),
        *("3000Mi", "16384", "1048575", "1048576", "1025", "101", "2147483648", "0x10", "1/2"),
        *("\uff18", "\u0663", "\u2460", "\u00bd", "1\u200b", "NaN", "inf", "nan", "one", "true"),
        *("1\\u0000", "1\\n", "\\u0031", "\\ud835\\udfd9"),
    )
)
TEXTS = (
    *(b'"x"', b'"null"', b'"CREATE"', b'"Pod"', b'"default-scheduler"', b'"hami-scheduler"'),
    *(b'"kube-system"', b'"windows"', b'"/dev/nvidia0"', b'"~0/~1/~"', b'"../../etc/passwd"'),
    *(b'"nvidia.com/gpu"', b'"__proto__"', b'"%s%n{0}{}"', b'"a\\tb\\r\\nc"', b'"\\u0000"'),
    *(b'"\\u001b[31m\\u0007"', b'"\\u2028\\u202e"', b'"\\ud83d\\ude00"', '"😀𝟙é"'.encode()),
    *(b'"\\ud800"', b'"\\udfff\\ud800"', b'"\\ud83d"', b'"\\uD83D\\u0041"', b'"\\u12"', b'"\\x41"'),
    *(b'"\xff\xfe"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82"'),
    *(b'"\x00"', b'"\n"', b'"\x1f"', b'"\x7f\xc2\x85"', b'"\xef\xbb\xbf"', b'"open', b"'x'"),
    *(b'"%s"' % (b"x" * 300), b'"%s"' % (b"\\\\" * 5000), b'"%s"' % ("ä".encode() * 9000)),
)
SHAPES = (
    *(b"null", b"true", b"false", b"[]", b"{}", b"[null]", b"[[]]", b"[1]", b'["x"]', b"[{}]"),
    *(b'{"":""}', b'{"a":null}', b'{"name":null}', b'{"name":{}}', b'[{"name":[]}]'),
    *(b'[{"name":null}]', b'[{"name":"A"},{"name":"A"}]', b'[{"name":"A"},null]', b"[true,false]"),
    *(b'[{"name":"NVIDIA_VISIBLE_DEVICES","value":7}]', b'{"nvidia.com/gpu":"1"}'),
    *(b'{"nvidia.com/gpu":[]}', b'{"limits":{"nvidia.com/gpu":{}}}', b'{"limits":[]}'),
    *(b'{"a":1,"a":2}', b'{"\\u0061":1,"a":1}', b'{"a":{"b":[{"c":1,"c":1}]}}', b'{"a":1,}'),
    *(
        b"[1,]",
        b"[,1]",
        b"{1:2}",
        b'{"a"}',
        b'{"a":}',
        b"",
        b",",
        b"]",
        b"}",
        b"undefined",
        b"True",
    ),
    *(b"/**/1", b"1 2", b'{"a":1}{"a":1}', b"[" * 50 + b"]" * 50, b"[" * 240 + b"]" * 240),
    *(b"[" * depth + b"]" * depth for depth in (250, 300, 1000, 1024, 1100, 5000)),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in (100, 250, 300, 1023, 3000)),
    *(b"[" * 2000, b'{"a":[' * 900, b"[" + b"0," * 3000 + b"0]"),
)
ANNOTATIONS = tuple(
    text.encode()
    for text in (
        *("", "null", "1", "[]", "{}", "{", '{"v":1}', '{"v":2,"containers":{}}', '{"v":true}'),
        *('{"v":1,"containers":[]}', '{"v":1,"containers":{"main":null}}', '{"v":1.0}'),
        *('{"v":1,"containers":{"main":{"nvidia.com/gpu":[]}}}', '{"v":NaN}', '{"v":1e400}'),
        *('{"v":1,"containers":{"main":{"nvidia.com/gpu":"1e999"}}}', "[" * 5000, '"\\ud800"'),
        *('{"v":1,"containers":{"main":{"nvidia.com/gpu":"1","nvidia.com/gpu":"2"}}}', "\x00"),
        *('{"v":1,"containers":{"main":{"nvidia.com/gpu":"0","nvidia.com/gpumem":"1"}}}', "\x7f"),
        *(
            "[" * 1000 + "]" * 1000,
            '{"v":1,"containers":{"main":' + '{"a":' * 500 + "1" + "}" * 502,
        ),
    )
)
ALL = (*NUMBERS, *QUANTITIES, *TEXTS, *SHAPES)
