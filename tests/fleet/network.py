"""A network namespace where every process has an address of its own and any two can be cut apart.

A process that opens a connection to a loopback address gets 127.0.0.1 as its source, so a filter
could not tell who is who. Therefore each process runs under its own user id, and a routing rule for
that id looks up a table whose one route names the process's address as source. The kernel asks the
table of local addresses before all other rules, so that rule is put behind ours. Seen on Linux with
iproute2 6.1: the server sees the client's own address, as from another machine."""

import os
import subprocess
import sys

from fleet import uid_of

INSIDE = "CLEAVE_FLEET_NAMESPACE"


def enter():
    """Starts the program again as the first process of new network and process namespaces, so that
    nothing of it can outlive it, even when it is killed. Returns only inside."""
    if os.environ.get(INSIDE) == "1":
        return
    if os.geteuid() != 0:
        sys.exit("network namespaces and partitions need root: run this as root, or with sudo")
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child",
                          sys.executable, *sys.argv])


def run(*command):
    subprocess.run(command, check=True, timeout=20, stdin=subprocess.DEVNULL)


def set_up(numbers):
    """One address for each user id: 127.0.0.<number> for uid_of(number)."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "rule", "add", "pref", "100", "lookup", "local")
    for number in numbers:
        uid, table = uid_of(number), str(1000 + number)
        run("ip", "rule", "add", "pref", "10", "uidrange", f"{uid}-{uid}", "lookup", table)
        run("ip", "route", "add", "local", "127.0.0.0/8", "dev", "lo", "src", f"127.0.0.{number}",
            "table", table)
    run("ip", "rule", "del", "pref", "0")


def numbers_of(fleet):
    return [int(process.address.rsplit(".", 1)[1]) for process in fleet.processes()]


def drop(source, destination):
    """Nothing from source reaches destination any more; None stands for everyone but the test."""
    rule = ["iptables", "-w", "-A", "INPUT", "-i", "lo"]
    if source is not None:
        rule += ["-s", source]
    if destination is not None:
        rule += ["-d", destination]
    run(*rule, "-j", "DROP")


def cut(one, other):
    drop(one, other)
    drop(other, one)


def heal():
    run("iptables", "-w", "-F", "INPUT")
