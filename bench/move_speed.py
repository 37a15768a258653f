#!/usr/bin/env python3
"""How many keys a second a move carries from one stock redis-server to another, unthrottled, with
no other load: values of 100 bytes, every key of one node. Beside it the same keys copied by
redis-server's own MIGRATE in batches of 100, in the same run on the same servers.

The last line is one object: keys, keys a second of each, and the ratio."""

import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests",
                                "integration"))
import harness  # noqa: E402
import serve_test  # noqa: E402

KEYS = int(os.environ.get("KEYS", "600000"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
VALUE = "v" * 100
BATCH = 100


def fill(port):
    """Through the router, as a client would."""
    loader = subprocess.Popen(["redis-cli", "-p", str(port), "--pipe"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL)
    for i in range(KEYS):
        key = f"key:{i}"
        loader.stdin.write(f"*3\r\n$3\r\nSET\r\n${len(key)}\r\n{key}\r\n"
                           f"${len(VALUE)}\r\n{VALUE}\r\n"
                           .encode())
    loader.stdin.close()
    if loader.wait() != 0:
        raise RuntimeError("redis-cli --pipe failed")


def move_all(router, source, target):
    """One move of everything that `source` owns: keys, and keys a second until the destination
    owned them. The source is cleaned afterwards, at leisure."""
    owned = [{"first": e["first"], "last": e["last"]}
             for e in router.get("/ring")["entries"] if e["node"] == source]
    number = router.post("/moves", {"ranges": owned, "to": target, "reason": "speed"})["move"]

    def ended():
        return next((m for m in router.get("/moves")["ended"] if m["id"] == number), None)

    record = harness.wait_for("the move", ended, 120, pause=0.05)
    if record["end"] != "committed":
        raise RuntimeError(f"the move was aborted: {record}")
    return record["keys_copied"], record["keys_copied"] / (record["committed_ms"] / 1000)


def migrate_all(from_port, to_port):
    """Keys a second of MIGRATE ... COPY REPLACE in batches, by one client."""
    with harness.Redis(from_port, timeout=60) as client:
        keys = []
        cursor = b"0"
        while True:
            cursor, page = client.call("SCAN", cursor, "COUNT", 1000)
            keys += [key for key in page if not key.startswith(b"cleave:")]
            if cursor == b"0":
                break
        begin = time.monotonic()
        for i in range(0, len(keys), BATCH):
            client.call("MIGRATE", "127.0.0.1", to_port, "", 0, 60000, "COPY", "REPLACE", "KEYS",
                        *keys[i:i + BATCH])
        speed = len(keys) / (time.monotonic() - begin)
    forget(to_port)
    return speed


def forget(port):
    """Empties a server but for the pool's marker: the next move would have to remove the copies."""
    with harness.Redis(port, timeout=60) as client:
        mark = client.call("GET", "cleave:{owner}")
        client.call("FLUSHALL")
        client.call("SET", "cleave:{owner}", mark)


def main():
    harness.require_binary()
    servers = serve_test.Servers(2)
    router = serve_test.Serve(servers, limits="limits: {copy_bytes_per_second: 0}\n")
    try:
        router.start()
        router.leading()
        router.post("/mode", {"mode": "observe"})
        router.post("/adopt")
        fill(router.port)
        ours, peers = [], []
        ends = ["n0", "n1"]
        move_all(router, "n1", "n0")  # everything on one node
        for _ in range(ROUNDS):
            keys, speed = move_all(router, *ends)
            ours.append(speed)
            ports = [router.node_ports()[name] for name in ends]
            harness.say(f"move {ends[0]} -> {ends[1]}: {keys} keys, {speed:,.0f} keys/s")
            peers.append(migrate_all(ports[1], ports[0]))
            harness.say(f"MIGRATE in batches of {BATCH}: {peers[-1]:,.0f} keys/s")
            ends.reverse()
        best = sorted(ours)[len(ours) // 2]
        peer = sorted(peers)[len(peers) // 2]
        harness.say(json.dumps({"keys": KEYS, "move_keys_per_s": round(best),
                                "migrate_keys_per_s": round(peer), "ratio": round(best / peer, 2)}))
    finally:
        router.close()
        servers.close()


if __name__ == "__main__":
    main()
