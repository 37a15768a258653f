#!/usr/bin/env python3
"""Records what a real redis-server makes of requests, well formed and not.

usage: record_requests.py HOST:PORT < requests.golden > requests.golden.new

Each case is two lines: '> ' and the bytes sent, '< ' and the bytes received, both with C escapes.
Every well formed request in the file is an ECHO, so that the reply shows how it was understood.
The server is asked over a fresh connection for each case; half-open input is ended by shutting
the sending side.
"""
import re
import socket
import sys


def unescape(text):
    return re.sub(rb"\\(x[0-9a-f]{2}|.)", one, text.encode("ascii"))


def one(match):
    code = match.group(1)
    if code[:1] == b"x":
        return bytes([int(code[1:], 16)])
    return {b"r": b"\r", b"n": b"\n", b"\\": b"\\"}[code]


def escape(raw):
    out = []
    for byte in raw:
        special = {13: "\\r", 10: "\\n", 92: "\\\\"}.get(byte)
        out.append(special or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"))
    return "".join(out)


def ask(host, port, raw):
    with socket.create_connection((host, int(port))) as connection:
        connection.settimeout(5)
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
        return received


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    for line in sys.stdin:
        line = line.rstrip("\n")
        if not line.startswith("< "):
            print(line)
        if line.startswith("> "):
            # A run of one byte, "\\x41{70000}", is written short.
            raw = b""
            for part in re.split(r"(\\x[0-9a-f]{2}\{\d+\})", line[2:]):
                run = re.fullmatch(r"(\\x[0-9a-f]{2})\{(\d+)\}", part)
                raw += unescape(run[1]) * int(run[2]) if run else unescape(part)
            print("< " + escape(ask(host, port, raw)))


main()
