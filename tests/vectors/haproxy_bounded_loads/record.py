#!/usr/bin/env python3
"""Records where the real HAProxy sends requests with hash-balance-factor while others are under
way, for src/ring/testdata/vectors/haproxy_bounded_loads.json.

    record.py > haproxy_bounded_loads.json

Needs haproxy 2.6. Loopback only; every request is held by its server until it is to end."""

import json
import queue
import random
import re
import socket
import subprocess
import tempfile
import threading
import time

SEED = 6
STEPS = 300
CONFIGURATIONS = [(110, [1, 1, 1, 1, 1]), (110, [1, 2, 3, 4]), (125, [1] * 8), (125, [7, 1, 3]),
                  (150, [1, 2, 3, 4]), (200, [3, 1, 1])]
END = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server(threading.Thread):
    """Accepts requests, says so, and answers each when it is told to."""

    def __init__(self, index, arrived):
        super().__init__(daemon=True)
        self.index, self.arrived = index, arrived
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1000)

    def port(self):
        return self.listener.getsockname()[1]

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            connection.recv(4096)
            self.arrived.put((self.index, connection))


def configuration(listen, factor, weights, servers):
    lines = ["global", " maxconn 2000", " nbthread 1", "defaults", " mode http",
             " timeout client 100s", " timeout server 100s", " timeout connect 10s",
             "frontend in", f" bind 127.0.0.1:{listen}", " default_backend all", "backend all",
             " balance hdr(x-key)", " hash-type consistent sdbm avalanche",
             f" hash-balance-factor {factor}"]
    lines += [f" server s{each.index} 127.0.0.1:{each.port()} weight {weight}"
              for each, weight in zip(servers, weights)]
    return "\n".join(lines) + "\n"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def begin(listen, arrived, key):
    client = socket.create_connection(("127.0.0.1", listen), timeout=20)
    client.sendall(f"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-key: {key}\r\n\r\n"
                   .encode())
    index, connection = arrived.get(timeout=20)
    return index, client, connection


def end(client, connection):
    connection.sendall(END)
    connection.close()
    while client.recv(4096):
        pass
    client.close()
    time.sleep(0.01)  # the answer leaves before HAProxy counts the request out


def record(rng, factor, weights):
    arrived = queue.Queue()
    servers = [Server(index, arrived) for index in range(len(weights))]
    for server in servers:
        server.start()
    listen = free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(configuration(listen, factor, weights, servers))
        file.flush()
        haproxy = subprocess.Popen(["haproxy", "-db", "-f", file.name])
        time.sleep(1.5)
    steps, held = [], []
    try:
        for _ in range(STEPS):
            if held and rng.random() < 0.25:
                index, client, connection = held.pop(rng.randrange(len(held)))
                end(client, connection)
                steps.append(index)
                continue
            key = f"key:{rng.randrange(10**6)}"
            held.append(begin(listen, arrived, key))
            steps.append([key, held[-1][0]])
    finally:
        haproxy.terminate()
        haproxy.wait()
    return {"factor": factor, "weights": weights, "steps": steps}


def main():
    rng = random.Random(SEED)
    version = subprocess.run(["haproxy", "-v"], capture_output=True, text=True,
                             check=True).stdout.split("\n")[0]
    head = {
        "peer": "HAProxy hash-balance-factor",
        "version": re.search(r"[\d.]+", version).group(0),
        "how": "tests/vectors/haproxy_bounded_loads/record.py: balance hdr(x-key), hash-type "
               "consistent sdbm avalanche; requests are held by their servers",
        "encoding": "factor in per cent. steps, in order: [key, index of the server that a new "
                    "request went to], or the index of a server of which one request ended",
    }
    print(json.dumps(head, indent=1)[:-2] + ',\n "configurations": [')
    print(",\n".join("  " + json.dumps(record(rng, factor, weights))
                     for factor, weights in CONFIGURATIONS))
    print(" ]\n}")


if __name__ == "__main__":
    main()
