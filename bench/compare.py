#!/usr/bin/env python3
"""CPU a request of cleave beside twemproxy (nutcracker), on the same three redis-servers, at an
equal offered rate, in alternating rounds of one run.

The CPU is what the scheduler counts for all threads of the process (/proc/PID/task/*/schedstat).
Both get the same load from `cleave bench`: 50 connections, 32-byte values, half reads. The last
line is one object: microseconds a request (medians over the rounds) and the ratios."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests",
                                "integration"))
import harness  # noqa: E402

CLIENTS = 50
SECONDS = 4
ROUNDS = int(os.environ.get("ROUNDS", "5"))
RATES = {1: 15000, 16: 60000}  # requests a second offered; below what either can do on two cores


def cpu_seconds(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as stat:
                total += int(stat.read().split()[0])
        except OSError:
            continue
    return total / 1e9


class Running:
    """Processes that end with the block."""

    def __init__(self):
        self.processes = []

    def start(self, *command, cwd=None):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   stdin=subprocess.DEVNULL, cwd=cwd)
        self.processes.append(process)
        return process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


def answers(port):
    try:
        with harness.Redis(port, timeout=1.0) as client:
            client.call("SET", "compare:probe", "x")
            return True
    except (OSError, ConnectionError, harness.Redis.ReplyError):
        return False


def start_redis(running, directory):
    ports = [harness.free_port() for _ in range(3)]
    for port in ports:
        running.start("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                      "--appendonly", "no", "--dir", directory)
    for port in ports:
        harness.wait_for("redis", lambda p=port: answers(p))
    return ports


def start_twemproxy(running, directory, servers):
    port, stats = harness.free_port(), harness.free_port()
    path = os.path.join(directory, "nutcracker.yml")
    with open(path, "w", encoding="ascii") as out:
        out.write(f"pool:\n  listen: 127.0.0.1:{port}\n  hash: fnv1a_64\n  hash_tag: \"{{}}\"\n"
                  "  distribution: ketama\n  redis: true\n  auto_eject_hosts: false\n"
                  "  timeout: 10000\n  server_connections: 1\n  servers:\n")
        out.writelines(f"   - 127.0.0.1:{server}:1\n" for server in servers)
    pid = running.start("nutcracker", "-c", path, "-a", "127.0.0.1", "-s", str(stats))
    harness.wait_for("twemproxy", lambda: answers(port))
    return pid, port


def start_cleave(running, directory, servers):
    port, admin = harness.free_port(), harness.free_port()
    path = os.path.join(directory, "cleave.yaml")
    nodes = "".join(f"      - {{name: n{i}, members: [{{address: 127.0.0.1:{server}}}]}}\n"
                    for i, server in enumerate(servers))
    with open(path, "w", encoding="ascii") as out:
        out.write(f"listeners: [{{address: 127.0.0.1:{port}, protocol: redis, pool: main}}]\n"
                  f"admin: {{address: 127.0.0.1:{admin}}}\nworkers: 1\npools:\n  - name: main\n"
                  f"    kind: store\n    ring: {{scheme: vnode}}\n    nodes:\n{nodes}"
                  f"coordination: {{kind: sqlite, path: {directory}/cleave.db}}\n"
                  "balance: {mode: observe}\n")
    pid = running.start(harness.CLEAVE, "serve", "--config", path, cwd=directory)
    harness.wait_for("cleave", lambda: answers(port))
    return pid, port


def measure(pid, port, pipeline):
    """(CPU microseconds a request, p50 ms, p99 ms, requests a second)."""
    command = [harness.CLEAVE, "bench", "--port", str(port), "--seconds", str(SECONDS), "--clients",
               str(CLIENTS), "--keys", "10000", "--zipf", "0", "--read-share", "0.5",
               "--value-bytes", "32", "--pipeline", str(pipeline), "--rate", str(RATES[pipeline]),
               "--no-fill", "--json"]
    before = cpu_seconds(pid)
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    spent = cpu_seconds(pid) - before
    result = json.loads(out.stdout.decode().strip().splitlines()[-1])
    return (spent * 1e6 / max(1, result["ops"]), result["p50_ms"], result["p99_ms"],
            result["ops_per_s"])


def main():
    harness.require_binary()
    summary = {}
    with tempfile.TemporaryDirectory(prefix="cleave-compare-") as directory, Running() as running:
        servers = start_redis(running, directory)
        peers = {"twemproxy": start_twemproxy(running, directory, servers),
                 "cleave": start_cleave(running, directory, servers)}
        for pipeline in (1, 16):
            seen = {name: [] for name in peers}
            for number in range(ROUNDS):
                order = list(peers) if number % 2 == 0 else list(reversed(peers))
                for name in order:
                    seen[name].append(measure(*peers[name], pipeline))
                    time.sleep(0.2)
            ratios = [c[0] / t[0] for c, t in zip(seen["cleave"], seen["twemproxy"])]
            for name, rows in seen.items():
                cpu, p50, p99, rate = (statistics.median(row[i] for row in rows) for i in range(4))
                harness.say(f"pipeline {pipeline:2}  {name:9}  {cpu:6.2f} us/request  "
                            f"p50 {p50:6.3f} ms  p99 {p99:6.3f} ms  {rate:8.0f} requests/s")
                summary[f"{name}_us_p{pipeline}"] = round(cpu, 3)
                summary[f"{name}_p99_ms_p{pipeline}"] = round(p99, 3)
            summary[f"ratio_p{pipeline}"] = round(statistics.median(ratios), 3)
            harness.say(f"pipeline {pipeline:2}  cleave / twemproxy ="
                        f" {summary[f'ratio_p{pipeline}']}"
                        f"  (rounds: {', '.join(f'{ratio:.2f}' for ratio in ratios)})")
    harness.say(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
