#!/usr/bin/env python3
"""Records what a real redis-server says of its commands.

usage: record.py HOST:PORT command > command_redis_7.0.15.resp
       record.py HOST:PORT getkeys < getkeys.golden > getkeys.golden.new

The first writes the raw COMMAND reply. The second reads lines "command args... => anything" and
writes each again with the positions of the keys that COMMAND GETKEYS names, or its error.
"""
import re
import socket
import sys


def ask(host, port, args):
    with socket.create_connection((host, int(port))) as connection:
        raw = b"*%d\r\n" % len(args)
        raw += b"".join(b"$%d\r\n%s\r\n" % (len(arg), arg) for arg in args)
        connection.sendall(raw + b"*1\r\n$4\r\nQUIT\r\n")
        received = b""
        while chunk := connection.recv(1 << 20):
            received += chunk
        return received.removesuffix(b"+OK\r\n")


def positions(args, reply):
    """Every argument of the recorded commands is different, so that a key tells its position."""
    if reply.startswith(b"-"):
        return reply[1:].decode().strip()
    keys = re.findall(rb"\$\d+\r\n(.*?)\r\n", reply)
    return " ".join(str(args.index(key)) for key in keys)


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    if sys.argv[2] == "command":
        sys.stdout.buffer.write(ask(host, port, [b"COMMAND"]))
        return
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line and not line.startswith("#"):
            text = line.split(" =>")[0]
            args = text.encode().split()
            line = f"{text} => {positions(args, ask(host, port, [b'COMMAND', b'GETKEYS'] + args))}"
        print(line)


main()
