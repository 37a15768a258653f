#!/usr/bin/env python3
"""Real faults on a real fleet, as `make faults` runs them: three routers, four redis-servers and a
coordinator, while ranges move without end and clients of all routers keep a history of every key.
One fault after another, from a seed: kill -9, SIGSTOP, and partitions, also of one direction.

At the end everything is healed and has 30 s to settle; then every key is read once more and its
history is checked for linearizability. Prints a table of the longest time for which a key could not
be written through a router that was not the fault's victim; the last line is one JSON object. Exit
code 1 when anything was lost, wrong or not linearizable, or did not settle."""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import network

network.enter()

import harness  # noqa: E402
from fleet import Fleet  # noqa: E402
from moves import Mover  # noqa: E402

PHASES = ("copying", "copying", "fenced", "fenced", "clean", None)
SETTLE_S = 30
UNDECIDED_SHARE_MAX = 0.001
# Slow enough that a move has a copy phase to be hit in; a sixteenth of it, which is what is left
# while the servers are slow, still ends a move within seconds.
SETTINGS = "limits: {copy_bytes_per_second: 2097152}\n"


class Fault:
    """What is done, how it is undone, and the routers whose own clients must suffer from it."""

    def __init__(self, target, inject, heal, victims=()):
        self.target = target
        self.inject = inject
        self.heal = heal
        self.victims = [router.name for router in victims]


def killed(process, fleet, victims=()):
    def start():
        if process is fleet.coordinator:
            fleet.start_coordinator()
        else:
            process.start()
    return Fault(process.name, process.kill, start, victims)


def frozen(process, victims=()):
    return Fault(process.name, process.freeze, process.thaw, victims)


def cut(one, other, victims=()):
    return Fault(f"{one.name} <-> {other.name}",
                 lambda: network.cut(one.address, other.address), network.heal, victims)


def cut_one_way(one, other, victims=()):
    return Fault(f"{one.name} -> {other.name}",
                 lambda: network.drop(one.address, other.address), network.heal, victims)


class Kinds:
    """Makes each kind of fault, on targets of the seed's choice; public methods are the kinds."""

    def __init__(self, fleet, seed):
        self._fleet = fleet
        self._random = random.Random(seed)

    def _leader(self):
        return self._fleet.find_leader() or self._any(self._fleet.routers)

    def _follower(self):
        leader = self._leader()
        return self._any([router for router in self._fleet.routers if router is not leader])

    def _any(self, some):
        return self._random.choice(some)

    def _pair(self, one, other):
        return (one, other) if self._random.random() < 0.5 else (other, one)

    def kill_router(self):
        router = self._follower()
        return killed(router, self._fleet, [router])

    def kill_leader(self):
        router = self._leader()
        return killed(router, self._fleet, [router])

    def stop_router(self):
        router = self._follower()
        return frozen(router, [router])

    def stop_leader(self):
        router = self._leader()
        return frozen(router, [router])

    def kill_server(self):
        return killed(self._any(self._fleet.servers), self._fleet)

    def stop_server(self):
        return frozen(self._any(self._fleet.servers))

    def kill_coordinator(self):
        return killed(self._fleet.coordinator, self._fleet)

    def stop_coordinator(self):
        return frozen(self._fleet.coordinator)

    def cut_router_coordinator(self):
        router = self._follower()
        return cut(router, self._fleet.coordinator, [router])

    def cut_leader_coordinator(self):
        router = self._leader()
        return cut(router, self._fleet.coordinator, [router])

    def cut_router_server(self):
        router = self._follower()
        return cut(router, self._any(self._fleet.servers), [router])

    def cut_leader_server(self):
        router = self._leader()
        return cut(router, self._any(self._fleet.servers), [router])

    def cut_leader_router(self):
        leader = self._leader()
        return cut(leader, self._any([r for r in self._fleet.routers if r is not leader]))

    def one_way_router_coordinator(self):
        router = self._any(self._fleet.routers)
        return cut_one_way(*self._pair(router, self._fleet.coordinator), [router])

    def one_way_router_server(self):
        router = self._any(self._fleet.routers)
        return cut_one_way(*self._pair(router, self._any(self._fleet.servers)), [router])

    def one_way_leader_router(self):
        leader = self._leader()
        other = self._any([router for router in self._fleet.routers if router is not leader])
        return cut_one_way(*self._pair(leader, other))

    def cut_coordinator_from_all(self):
        def isolate():
            network.drop(self._fleet.coordinator.address, None)
            network.drop(None, self._fleet.coordinator.address)
        return Fault("coordinator", isolate, network.heal)


KINDS = [name for name in vars(Kinds) if not name.startswith("_")]


class Load:
    """The Go program beside this file."""

    def __init__(self, program, fleet, seed, evidence, lie):
        routers = ",".join(f"{router.address}:{router.port}" for router in fleet.routers)
        command = [program, "-routers", routers, "-seed", str(seed), "-evidence", evidence]
        self.process = subprocess.Popen(command + (["-lie"] if lie else []), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def wait_filled(self):
        if self.process.stdout.readline() != "filled\n":
            raise RuntimeError("the load did not begin")

    def finish(self, seconds):
        out, _ = self.process.communicate("finish\n", timeout=seconds)
        return json.loads(out.strip().splitlines()[-1])

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Run:
    def __init__(self, fleet, mover, options):
        self.fleet = fleet
        self.mover = mover
        self.options = options
        self.random = random.Random(options.seed)
        self.kinds = Kinds(fleet, options.seed + 1)
        self.timeline = []
        self.troubles = []

    def schedule(self):
        """All kinds in a random order, then again: a short run has as many kinds as it can."""
        while True:
            kinds = list(self.options.kinds)
            self.random.shuffle(kinds)
            yield from kinds

    def inject_until(self, end):
        for kind in self.schedule():
            if time.monotonic() > end:
                return
            self.one_fault(kind)
            self.watch_over()
            time.sleep(self.random.uniform(2.0, 4.0))
            self.watch_over()

    def one_fault(self, kind):
        lasts = self.random.uniform(1.0, 6.0)
        phase = self.random.choice(PHASES)
        fault = getattr(self.kinds, kind)()
        shown = self.mover.wait_for(phase, 3.0 if phase else 0.0)
        began = time.time()
        fault.inject()
        try:
            time.sleep(lasts)
        finally:
            healing = time.time()
            fault.heal()
        self.timeline.append({"kind": kind, "target": fault.target, "victims": fault.victims,
                              "start_ms": began * 1e3, "healed_ms": healing * 1e3,
                              "wanted": phase, "shown": shown})
        harness.say(f"{clock(began)} {kind:28} {fault.target:30} {lasts:4.1f} s, moves: {shown}; "
                    f"done {self.mover.done}, aborted {self.mover.aborted}")

    def watch_over(self):
        """Nothing may end that was not ended. It is started again, so that the run goes on."""
        for process in self.fleet.processes():
            if not process.alive():
                self.troubles.append(f"{process.name} ended by itself at {clock(time.time())} with "
                                     f"code {process.process.returncode}")
                harness.say(self.troubles[-1])
                process.start()

    def settle(self):
        try:
            return round(self.fleet.settled(SETTLE_S), 2)
        except TimeoutError as error:
            self.troubles.append(str(error))
            return None


def clock(seconds):
    return time.strftime("%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e3):03}"


def unavailability(timeline, outages, routers):
    """Of each kind: how often, the longest fault, the longest outage through a router that was not
    its victim, and the longest that went on after the fault was healed; all in milliseconds."""
    table = {}
    for fault in timeline:
        row = table.setdefault(fault["kind"], {"faults": 0, "fault_ms": 0, "outage_ms": 0,
                                               "after_heal_ms": 0, "why": ""})
        row["faults"] += 1
        row["fault_ms"] = max(row["fault_ms"], round(fault["healed_ms"] - fault["start_ms"]))
    quiet = {"faults": 0, "fault_ms": 0, "outage_ms": 0, "after_heal_ms": 0, "why": ""}
    for outage in outages:
        # The request that meets a fault was often sent just before it.
        before = [f for f in timeline if f["start_ms"] <= outage["start_ms"] + 100]
        fault = before[-1] if before else None
        if fault is not None and routers[outage["router"]] in fault["victims"]:
            continue
        row = table.get(fault["kind"]) if fault else table.setdefault("(before the first)", quiet)
        lasted = outage["end_ms"] - outage["start_ms"]
        if lasted > row["outage_ms"]:
            row["outage_ms"], row["why"] = round(lasted), outage["why"]
        if fault is not None and outage["end_ms"] > fault["healed_ms"]:
            after = outage["end_ms"] - max(fault["healed_ms"], outage["start_ms"])
            row["after_heal_ms"] = max(row["after_heal_ms"], round(after))
    return table


def in_phases(timeline):
    """How many faults began while a move was in the phase."""
    return {phase: sum(phase in fault["shown"] for fault in timeline)
            for phase in ("copying", "fenced", "clean")}


def report(run, mover, result, settled, options):
    judged = result["judged"]
    table = unavailability(run.timeline, result["outages"],
                           [router.name for router in run.fleet.routers])
    summary = {
        "coordinator": options.coordinator, "seed": options.seed, "minutes": options.minutes,
        "operations": result["operations"], "acknowledged_writes": result["acked_writes"],
        "unknown_outcomes": result["unknown"], "lost": result["lost"], "wrong": result["wrong"],
        "keys": judged["keys"], "judged_operations": judged["operations"],
        "overlapping": judged["overlapping"], "non_linearizable": judged["nonlinearizable"],
        "absurd": judged["absurd"], "undecided": judged["undecided"], "unread": result["unread"],
        "moves_done": mover.done, "moves_aborted": mover.aborted, "moves_refused": mover.refused,
        "faults": len(run.timeline), "faults_in_phase": in_phases(run.timeline),
        "settled_s": settled, "troubles": run.troubles,
        "unavailability": table,
    }
    summary["failed"] = is_bad(summary)
    harness.say(f"\n{'fault':28} {'times':>5} {'fault ms':>8} {'longest outage ms':>17} "
                f"{'after healing ms':>16}  why")
    for kind, row in sorted(table.items()):
        harness.say(f"{kind:28} {row['faults']:5} {row['fault_ms']:8} {row['outage_ms']:17} "
                    f"{row['after_heal_ms']:16}  {row['why'][:90]}")
    harness.say("\nfailures as clients saw them:")
    for failure in result["failures"][:12]:
        harness.say(f"{failure['count']:8} {failure['what'][:130]}")
    harness.say("\nwhy moves were aborted:")
    for why, times in sorted(mover.reasons.items(), key=lambda pair: -pair[1])[:12]:
        harness.say(f"{times:8} {why[:130]}")
    harness.say("")
    for line in (result["findings"] or [])[:20] + (judged["evidence"] or []) + run.troubles:
        harness.say(line)
    for name in ("operations", "acknowledged_writes", "unknown_outcomes", "lost", "wrong", "keys",
                 "judged_operations", "overlapping", "non_linearizable", "absurd", "undecided",
                 "unread", "moves_done", "moves_aborted", "faults", "faults_in_phase",
                 "settled_s"):
        harness.say(f"{name.replace('_', ' '):20} {summary[name]}")
    return summary


def is_bad(summary):
    """A run that did nothing has shown nothing, so it is bad as well."""
    return bool(summary["lost"] or summary["wrong"] or summary["non_linearizable"]
                or summary["absurd"] or summary["unread"] or summary["troubles"]
                or summary["undecided"] > UNDECIDED_SHARE_MAX * summary["keys"]
                or summary["acknowledged_writes"] < 1000 or not summary["moves_done"])


def keep_evidence(fleet, directory):
    """Of a bad run: what the servers had written, too; its lines carry the time."""
    for server in fleet.servers:
        shutil.copytree(os.path.join(server.directory, "appendonlydir"),
                        os.path.join(directory, server.name), dirs_exist_ok=True)


def run_all(options, evidence):
    fleet = Fleet(options.coordinator, apart=True, settings=SETTINGS)
    mover, load = Mover(fleet, options.seed), None
    try:
        network.set_up(network.numbers_of(fleet))
        fleet.start()
        load = Load(options.load, fleet, options.seed, evidence, options.lie)
        load.wait_filled()
        mover.start()
        run = Run(fleet, mover, options)
        time.sleep(3.0)
        run.inject_until(time.monotonic() + options.minutes * 60)
        mover.ordering = False
        settled = run.settle()
        mover.ended.set()
        mover.join(timeout=10)
        result = load.finish(300)
        summary = report(run, mover, result, settled, options)
        with open(os.path.join(evidence, "timeline.json"), "w", encoding="utf-8") as out:
            json.dump({"faults": run.timeline, "findings": result["findings"],
                       "outages": result["outages"], "summary": summary}, out, indent=1)
        if summary["failed"]:
            keep_evidence(fleet, evidence)
            harness.say(f"kept in {evidence}: timeline, logs, histories of bad keys, what the "
                        "servers wrote")
        harness.say(json.dumps(summary))
        return 1 if summary["failed"] else 0
    finally:
        mover.ended.set()
        if load is not None:
            load.end()
        fleet.close(keep=evidence)


def arguments():
    parser = argparse.ArgumentParser(description="real faults on a real fleet")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--coordinator", choices=("etcd", "zookeeper"), default="etcd")
    parser.add_argument("--seed", type=int, default=None, help="of the schedule of faults")
    parser.add_argument("--kinds", default=",".join(KINDS), help="only these, with commas")
    parser.add_argument("--lie", action="store_true",
                        help="the load calls writes acknowledged that it never sent: must fail")
    parser.add_argument("--load", default=os.path.join(harness.ROOT, "build", "fleet", "load"))
    options = parser.parse_args()
    options.kinds = options.kinds.split(",")
    for kind in options.kinds:
        if kind not in KINDS:
            parser.error(f"no such kind of fault: {kind}; there are {', '.join(KINDS)}")
    if options.seed is None:
        options.seed = random.randrange(1_000_000)
    return options


def main():
    harness.require_binary()
    options = arguments()
    for ending in (signal.SIGINT, signal.SIGTERM):  # SIGINT too: a shell's background ignores it
        signal.signal(ending, lambda number, _: sys.exit(128 + number))
    evidence = os.path.join(harness.ROOT, "build", "fleet",
                            f"{options.coordinator}-{options.seed}")
    shutil.rmtree(evidence, ignore_errors=True)
    os.makedirs(evidence)
    harness.say(f"{options.minutes:g} minutes of faults, coordinator {options.coordinator}, "
                f"--seed {options.seed}")
    return run_all(options, evidence)


if __name__ == "__main__":
    sys.exit(main())
