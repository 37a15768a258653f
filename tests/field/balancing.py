"""Balance, as simulate, assess and plan show it."""

import json
import os
import random
import re
import time

import harness
from lab import case, run_cleave


def two_on_one_node(lab, nodes=8):
    """Two keys that the ring puts on one node, by the report of assess."""
    lines = ["time,key,op,bytes"]
    for step in range(64 * 400):
        lines.append(f"{step / 400:.4f},hot{step % 64},GET,100")
    trace = lab.file("even.csv", "\n".join(lines) + "\n")
    names = [w for n in range(1, nodes + 1) for w in ("--node", f"n{n}=1")]
    code, text = run_cleave("assess", *names, "--trace", trace, "--json", timeout=40)
    if code != 0:
        raise RuntimeError(f"assess: {text[-200:]}")
    told = json.loads(text.strip().splitlines()[-1])
    by_node = {}
    for one in told["uncuttable"]:
        by_node.setdefault(one["node"], []).append(one["keys"][0])
    return next(keys for keys in by_node.values() if len(keys) > 1)[:2]


def simulate_two(lab, share, seconds=300, rate=2000):
    """(peak before, peak after, moves, keys) of two hot keys on one of 8 nodes."""
    pair = two_on_one_node(lab)
    draw = random.Random(7)
    lines = ["time,key,op,bytes"]
    for step in range(seconds * rate):
        dice = draw.random()
        key = (
            pair[0]
            if dice < share
            else pair[1] if dice < 2 * share else f"k{draw.randrange(20_000)}"
        )
        lines.append(f"{step / rate:.4f},{key},GET,100")
    trace = lab.file("two.csv", "\n".join(lines) + "\n")
    code, text = run_cleave("simulate", "--trace", trace, "--nodes", "8", "--json", timeout=150)
    if code != 0:
        raise RuntimeError(f"simulate: {text[-300:]}")
    return json.loads(text.strip().splitlines()[-1])


def parted(lab, share, nodes=8, keys=20_000):
    """Two keys with this share each: how high the peak is in the end, and what moved for it. A node
    with one of them gets lower only by giving away its part of all the other keys."""
    told = simulate_two(lab, share)
    peak, bound = told["peak_over_mean"], told["lower_bound"]
    mean, rest = 1 / nodes, (1 - 2 * share) / nodes
    least = 2 * keys / nodes * (1 - (peak * mean - share) / rest)
    said = (
        f"peak {told['peak_over_mean_start']:.3f} -> {peak:.3f}, bound {bound:.3f}, "
        f"{told['moves']} moves, {told['keys_moved']} keys, for this peak at least {least:.0f}"
    )
    lab.must(peak <= max(1.10, 1.05 * bound), said)
    lab.must(told["keys_moved"] <= 1.2 * least, said)


@case("120a", "two hot keys of 20 % on one node are parted", seconds=200)
def two_hot_keys(lab):
    parted(lab, 0.20)


@case("120b", "two of 12 %, and of 8 %, too", seconds=300)
def two_warm_keys(lab):
    parted(lab, 0.12)
    parted(lab, 0.08)


@case("120r", "the report of the balance names few cases where cleave is not the best")
def report_of_the_balance(lab):
    with open(
        os.path.join(harness.ROOT, "docs", "reports", "balance.md"), encoding="utf-8"
    ) as file:
        text = file.read()
    found = re.search(r"(?ms)^#+ Where cleave is not the best.*?(?=^#+ |\Z)", text)
    lines = [
        line for line in (found[0] if found else "").splitlines() if line.startswith(("|", "- "))
    ]
    rows = [line for line in lines if not re.match(r"\| *(-|workload|case)", line)]
    lab.must(len(rows) <= 11, f"{len(rows)} lines under 'Where cleave is not the best'")


@case("O25", "a node that is full gets the true reason and alternatives", seconds=60)
def full_node(lab):
    small = lab.server("--maxmemory", "2mb", "--maxmemory-policy", "noeviction")
    large = lab.server("--maxmemory", "20mb", "--maxmemory-policy", "noeviction")
    router = lab.router([small, large])
    names = {"a": router.keys_of("a", 3000), "b": router.keys_of("b", 3000)}
    for server, node, most in ((small, "a", 2_090_000), (large, "b", 4_400_000)):
        for begin in range(0, 3000, 100):
            size = 200 if node == "a" else 900
            if int(server.info("used_memory")) + 100 * (size + 120) < most:
                server.fill(names[node][begin : begin + 100], size)
    share = int(small.info("used_memory")) * 100 // 2_097_152
    lab.must(share >= 90, f"the check filled only {share} %")
    time.sleep(14)
    _, text = router.command("plan")
    plan = router.get("/plan")
    lab.must("nobody has room" not in text, f"plan: {text[:300]!r}")
    of_a = [v for v in plan["verdicts"] + plan["moves"] if "a" in (v.get("node"), v.get("source"))]
    lab.must(
        any(re.search("memory|room", v.get("text", "") + v.get("reason", "")) for v in of_a),
        f"/plan does not say that a is full: {str(plan)[:400]}",
    )
