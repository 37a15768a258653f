#!/usr/bin/env python3
"""Writes docs/reports/balance.md: every workload under every policy, in the simulator.

    tools/balance_report.py [--cleave PROGRAM] [--out DIRECTORY] [--minutes 45] [--jobs N]
                            [--cleave-seeds 10] [--other-seeds 3] [--seconds 0] [--only NAME ...]
                            [--no-twitter]

Runs `cleave simulate --json` on the cores in parallel: the first seed of everything, then the next,
so that what is there when the minutes are over is as even as can be. The report says how many seeds
each row rests on; a run that was cut off or failed is missing, and counted.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

POLICIES = ["cleave", "static", "halve", "cockroach", "pd", "dicer"]
SKEWED = ["zipf:0.8", "zipf:0.99", "zipf:1.1", "zipf:1.2", "zipf:1.4"]
CACHED = [f"{name} cached" for name in ("zipf:0.8", "zipf:0.99", "zipf:1.2", "zipf:1.4")]
CALM = ["uniform", "near-idle", "idle"]
CHANGING = ["flash", "shift:300", "square", "negative", "tags", "capacities", "rack-loss", "join",
            "leave", "bytes", "diurnal", "growth"]
TWITTER = [f"twitter:{row}" for row in range(1, 55)]
# Hours of virtual time: only what is needed of them.
LONG = {"diurnal", "growth"}
CACHE = 64
PICTURES = [("zipf:0.99", "cleave"), ("zipf:0.99", "halve"), ("zipf:0.99", "dicer"),
            ("flash", "cleave"), ("join", "cleave")]
PICTURE_SECONDS = 180
RUN_SECONDS_MAX = 300  # real time of one run
LARGE = [("zipf:0.99", []), ("zipf:1.4", ["--cache", str(CACHE)])]
LARGE_KEYS = [2_000_000, 20_000_000, 50_000_000]  # a node, most of them cold
LARGE_BYTES = 500
LARGE_SECONDS = 7_200  # of virtual time
TARGET_LEAST = 1.10
TARGET_BOUND = 1.05
# cleave is as good as another policy where it is within these.
PEAK_SLACK = 1.01
SLACK = 1.2
MEASURES = ["peak_over_mean_start", "peak_over_mean", "keys_moved", "oscillations",
            "seconds_to_converge"]


def arguments_of(workload, policy, seed, still_seconds=0):
    """The command line of one run, after the program. Load that rests needs no longer than it takes
    the slowest policy; what changes runs as long as it needs."""
    name, cached = workload.removesuffix(" cached"), workload.endswith(" cached")
    found = ["simulate", "--workload", name, "--policy", policy, "--seed", str(seed), "--json"]
    if workload in CACHED + SKEWED + CALM + TWITTER and still_seconds:
        found += ["--seconds", str(still_seconds)]
    return found + (["--cache", str(CACHE)] if cached else [])


def simulate(options, job, deadline):
    """The summary of one run; None when it failed or the time was over."""
    left = min(RUN_SECONDS_MAX, deadline - time.monotonic())
    if left <= 1:
        return job, None
    try:
        done = subprocess.run([options.cleave, *arguments_of(*job, options.seconds)],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=left, check=True)
        return job, json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        print(f"{job}: {error}", file=sys.stderr)
        return job, None


def simulate_large(options):
    """(workload, extra options, keys a node, summary) of nodes that hold much."""
    found = []
    for keys in LARGE_KEYS:
        for workload, extra in LARGE:
            command = [options.cleave, "simulate", "--workload", workload, "--cold",
                       str(16 * keys), "--bytes", str(LARGE_BYTES), "--seconds",
                       str(LARGE_SECONDS if keys > LARGE_KEYS[0] else 900), "--json", *extra]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=True,
                                      stdin=subprocess.DEVNULL, timeout=RUN_SECONDS_MAX)
                summary = json.loads(done.stdout.strip().splitlines()[-1])
                found.append((workload, extra, keys, summary))
            except (subprocess.SubprocessError, ValueError, IndexError) as error:
                print(f"{workload}, {keys} keys: {error}", file=sys.stderr)
    return found


def large_section(found):
    """What it takes where scans and copies are long."""
    rows = [[f"{workload}{' cached' if extra else ''}", f"{keys / 1e6:.0f} million",
             number(run["peak_over_mean_start"]), number(run["peak_over_mean"]),
             number(run["lower_bound"]), number(run["keys_moved"], 0),
             number(run["seconds_to_detect"], 0), number(run["seconds_to_converge"], 0)]
            for workload, extra, keys, run in found]
    return ["## Large nodes", "",
            f"Keys of {LARGE_BYTES} bytes that nobody asks for beside the 40,000 that are asked "
            "for, so that a move scans and copies much. 25 MB/s for all copies together; a scan "
            "takes 1 us a key of what is idle at the source, which is at 88 to 95 % of its "
            "capacity at the start. Seed 1.", "",
            *table(["workload", "keys a node", "start", "end", "bound", "keys moved",
                    "detected s", "level s"], rows)]


def bytes_section(results):
    """The other dimension: memory."""
    if not results.has("bytes"):
        return []
    rows = [[policy] + [number(results.median("bytes", policy, field), digits)
                        for field, digits in (("bytes_peak_over_mean_start", 2),
                                              ("bytes_peak_over_mean", 2),
                                              ("bytes_lower_bound", 2), ("bytes_moved", 0),
                                              ("bytes_moved_bound", 0), ("keys_moved", 0),
                                              ("bytes_seconds_to_converge", 0))]
            for policy in POLICIES if results.of("bytes", policy)]
    return ["## Bytes", "",
            "Workload `bytes`: the most bytes of a node over the mean. Only cleave looks at them.",
            "", *table(["policy", "start", "end", "bound", "bytes moved", "least", "keys",
                        "level s"], rows)]


def jobs_of(options):
    """(workload, policy, seed), the first seeds of everything first, long ones last."""
    workloads = SKEWED + CALM + CHANGING + CACHED + ([] if options.no_twitter else TWITTER)
    if options.only:
        workloads = options.only
    jobs = []
    for seed in range(1, max(options.cleave_seeds, options.other_seeds) + 1):
        for workload in workloads:
            twitter = workload.startswith("twitter:")
            for policy in POLICIES:
                most = options.cleave_seeds if policy == "cleave" else options.other_seeds
                if twitter:
                    most = 1 if policy in ("cleave", "static") else 0
                if workload in LONG:
                    most = min(most, 1)
                if seed <= most:
                    jobs.append((workload, policy, seed))
    return sorted(jobs, key=lambda job: (job[2], job[0] in LONG or job[0].startswith("twitter:")))


def median(values):
    """Of what is there; None of nothing."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def target(run):
    """What the peak has to reach."""
    return max(TARGET_LEAST, TARGET_BOUND * run["lower_bound"])


def bytes_target(run):
    """The same of bytes."""
    return max(TARGET_LEAST, TARGET_BOUND * run["bytes_lower_bound"])


class Results:
    """Runs by workload and policy."""

    def __init__(self):
        self.runs = {}
        self.missing = 0

    def add(self, job, run):
        if run is None:
            self.missing += 1
        else:
            self.runs.setdefault(job[:2], {})[job[2]] = run

    def count(self):
        return sum(len(runs) for runs in self.runs.values())

    def of(self, workload, policy):
        return list(self.runs.get((workload, policy), {}).values())

    def median(self, workload, policy, field):
        return median([run.get(field) for run in self.of(workload, policy)])

    def reaches(self, workload, policy):
        """True when every seed is at the target; where nothing may happen, when nothing did."""
        runs = self.of(workload, policy)
        if workload in CALM:
            return bool(runs) and all(run["moves"] == 0 for run in runs)
        if workload == "bytes" and any(run["bytes_peak_over_mean"] > bytes_target(run) + 1e-9
                                       for run in runs):
            return False
        return bool(runs) and all(run["peak_over_mean"] <= target(run) + 1e-9 for run in runs)

    def has(self, workload):
        return any(key[0] == workload for key in self.runs)


def number(value, digits=2):
    """For a cell."""
    if value is None:
        return "–"
    if isinstance(value, int) or float(value).is_integer() and digits == 0:
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def table(head, rows):
    """Lines of a Markdown table, numbers to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def by_policy(results, workloads, cell):
    """A table with a row a workload and a column a policy."""
    rows = [[workload] + [cell(workload, policy) for policy in POLICIES]
            for workload in workloads if results.has(workload)]
    return table(["workload", *POLICIES], rows)


def peak_cell(results):
    """Median peak, bold where every seed is at the target."""
    def cell(workload, policy):
        text = number(results.median(workload, policy, "peak_over_mean"))
        return f"**{text}**" if results.reaches(workload, policy) else text
    return cell


def plain_cell(results, field, digits=0):
    """Median of a field."""
    return lambda workload, policy: number(results.median(workload, policy, field), digits)


def keys_cell(results):
    """Median keys moved, bold where every seed is at the target."""
    def cell(workload, policy):
        text = number(results.median(workload, policy, "keys_moved"), 0)
        return f"**{text}**" if results.reaches(workload, policy) else text
    return cell


def most_cell(results, field):
    """Highest of a field over the seeds."""
    def cell(workload, policy):
        values = [run[field] for run in results.of(workload, policy)]
        return number(max(values)) if values else "–"
    return cell


def cleave_rows(results, workloads):
    """cleave alone, with what it is measured against."""
    rows = []
    for workload in workloads:
        runs = results.of(workload, "cleave")
        if not runs:
            continue
        of = lambda field, w=workload: results.median(w, "cleave", field)
        rows.append([workload, str(len(runs)), number(of("peak_over_mean_start")),
                     number(of("peak_over_mean")),
                     number(max(run["peak_over_mean"] for run in runs)), number(of("lower_bound")),
                     "yes" if results.reaches(workload, "cleave") else "**no**",
                     number(of("load_moved_over_bound")), number(of("keys_moved"), 0),
                     number(of("keys_moved_bound"), 0),
                     number(of("seconds_to_detect"), 0), number(of("seconds_to_converge"), 0)])
    return table(["workload", "seeds", "start", "end", "worst end", "bound", "target",
                  "load x least", "keys", "least keys", "detected s", "level s"], rows)


def losses(results, workloads):
    """Where another policy is better than cleave in what the issue asks for."""
    lines = []
    for workload in workloads:
        if not results.of(workload, "cleave"):
            continue
        if not results.reaches(workload, "cleave"):
            others = [p for p in POLICIES[1:] if results.reaches(workload, p)]
            lines.append(f"- **{workload}**: not every seed of cleave is at the target"
                         + (f"; {', '.join(others)} is." if others else ", nor of anyone else."))
        better = [text for policy in POLICIES[1:] if (text := loss(results, workload, policy))]
        if better:
            ours = {field: results.median(workload, "cleave", field) or 0 for field in MEASURES}
            lines.append(f"- {workload}: {'; '.join(better)}. cleave: {price(ours)}.")
    return lines or ["- Nowhere in these runs."]


def loss(results, workload, policy):
    """Where the policy, being at the target, is better than cleave by more than a little: in the
    peak, the keys moved, or the time. Each with what it paid, so that one can see the bargain."""
    if not results.reaches(workload, policy):
        return ""
    of = lambda who, field: results.median(workload, who, field) or 0
    ours = {field: of("cleave", field) for field in MEASURES}
    theirs = {field: of(policy, field) for field in MEASURES}
    better = []
    if workload not in CALM and ours["peak_over_mean"] > PEAK_SLACK * theirs["peak_over_mean"]:
        better.append("ends lower")
    if ours["keys_moved"] > SLACK * theirs["keys_moved"]:
        better.append("moves fewer keys")
    if ours["oscillations"] > theirs["oscillations"]:
        better.append("oscillates less")
    seconds = theirs["seconds_to_converge"]
    if policy != "static" and 0 < seconds * SLACK < ours["seconds_to_converge"]:
        better.append("is level sooner")
    if not better:
        return ""
    return f"{policy} {' and '.join(better)}: {price(theirs)} ({bargain(ours, theirs)})"


def bargain(ours, theirs):
    """What the other way would gain and cost, beside cleave's: peak, keys and seconds."""
    def by(field, less, more, same, form):
        difference = theirs[field] - ours[field]
        if form(abs(difference)) == form(0):
            return same
        return f"{form(abs(difference))} {less if difference < 0 else more}"
    keys = lambda value: f"{value:,.0f} keys"
    seconds = lambda value: f"{value:.0f} s"
    return ", ".join([by("peak_over_mean", "lower", "higher", "no lower", lambda v: f"{v:.2f}"),
                      by("keys_moved", "fewer", "more", "for as many keys", keys),
                      by("seconds_to_converge", "sooner", "later", "as soon", seconds)])


def price(found):
    """What a policy paid for what."""
    return (f"from {found['peak_over_mean_start']:.2f} to {found['peak_over_mean']:.2f} with "
            f"{found['keys_moved']:,.0f} keys in {number(found['seconds_to_converge'], 0)} s")


def twitter_section(results):
    """The rows of Twitter's table in short, those that miss their target by name."""
    rows = [name for name in TWITTER if results.of(name, "cleave")]
    if not rows:
        return []
    missed = [name for name in rows if not results.reaches(name, "cleave")]
    worst = max(rows, key=lambda name: results.median(name, "cleave", "peak_over_mean")
                / results.median(name, "cleave", "lower_bound"))
    lines = ["## Twitter's 54 clusters", "",
             f"{len(rows)} rows were run (seed 1); {len(rows) - len(missed)} end at the target. "
             f"Furthest from its bound: {worst}.", ""]
    wanted = missed + [name for name in rows if name not in missed][:12]
    body = [[name] + [number(results.median(name, policy, "peak_over_mean"))
                      for policy in ("static", "cleave")]
            + [number(results.median(name, "cleave", field), digits)
               for field, digits in (("lower_bound", 2), ("keys_moved", 0), ("moves", 0))]
            for name in wanted]
    return lines + table(["row", "static", "cleave", "bound", "keys moved", "moves"], body)


def report_text(results, large, options, took, version):
    """The whole document."""
    skewed = SKEWED + CACHED
    every = SKEWED + CALM + CHANGING + CACHED
    seeds = [len(results.of("zipf:0.99", policy)) for policy in POLICIES]
    lines = [
        "# Balance: every workload under every policy", "",
        f"Made by `make balance-report` from {version} on {datetime.date.today()}: 16 nodes, "
        f"40,000 keys, 40 % of capacity in use unless the workload says otherwise, "
        f"{results.count()} runs in {took / 60:.0f} minutes on "
        f"{os.cpu_count()} cores; {results.missing} runs were cut off by the time limit or failed. "
        f"Seeds at zipf:0.99: {dict(zip(POLICIES, seeds))}. Numbers are medians over seeds.", "",
        "The baselines are the *rules* of the systems they are named after, as far as published, "
        "on cleave's ring and in cleave's simulator; `src/rehearse/policies/policy_*.cc` says what "
        "is left out. CockroachDB's and PD's thresholds are absolute requests a second, made for "
        "their servers: at other rates they would act more, or less. A peak counts a move's scan "
        "as load, so a policy that never stops moving has a higher one.", "",
        "## Where cleave is not the best", "",
        f"Against policies that are at the target with every seed: more than {PEAK_SLACK} x their "
        f"peak, {SLACK} x their keys or {SLACK} x their seconds.", "", *losses(results, every), "",
        "## cleave against the bound", "",
        "Target: peak over mean at most max(1.10, 1.05 x bound). `cached`: the routers answer "
        f"reads of the {CACHE} hottest keys.", "", *cleave_rows(results, every),
        "## Peak over mean at the end", "",
        "Bold: every seed is at the target; where nothing may happen (uniform, near-idle, idle), "
        "nothing did.", "", *by_policy(results, skewed, peak_cell(results)),
        *by_policy(results, CALM + CHANGING, peak_cell(results)),
        "## Keys moved", "", "Bold: of those whose every seed is at the target.", "",
        *by_policy(results, every, keys_cell(results)), *bytes_section(results),
        "## Moves", "", *by_policy(results, every, plain_cell(results, "moves")),
        "## Oscillations", "",
        "A piece that goes back, or a boundary that is merged and cut again, within an hour. The "
        "most of any seed.", "", *by_policy(results, every, most_cell(results, "oscillations")),
        "## Seconds until level", "",
        "From the first second above the target until the peak stays at it; –: never, or it "
        "never was above.", "",
        *by_policy(results, every, plain_cell(results, "seconds_to_converge")),
        *large_section(large), *twitter_section(results), "## Pictures", ""]
    for workload, policy in PICTURES:
        stem = picture_stem(workload, policy)
        if (options.out / f"{stem}-peak.svg").exists():
            lines += [f"{workload}, {policy}, the first {PICTURE_SECONDS} s:", "",
                      f"![peak over mean]({stem}-peak.svg)", ""]
            if policy == "cleave":
                lines += [f"![load of each node]({stem}-loads.svg)", ""]
    if (options.out / "zipf-0.99-cleave-heat.svg").exists():
        lines += ["![heat over the ring](zipf-0.99-cleave-heat.svg)", ""]
    return "\n".join(lines)


def picture_stem(workload, policy):
    """Without a colon, which not every file system has."""
    return f"{workload.replace(':', '-')}-{policy}"


def draw(options):
    """A handful of runs, at the scale of their beginning."""
    for workload, policy in PICTURES:
        stem = picture_stem(workload, policy)
        directory = options.out / "tmp"
        command = [options.cleave, *arguments_of(workload, policy, 1), "--seconds",
                   str(PICTURE_SECONDS), "--pictures", str(directory)]
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False,
                              timeout=RUN_SECONDS_MAX)
        if done.returncode != 0:
            print(f"{stem}: no picture", file=sys.stderr)
            continue
        for chart in ["peak"] + (["loads"] if policy == "cleave" else []) + (
                ["heat"] if stem == "zipf-0.99-cleave" else []):
            (directory / f"{chart}.svg").replace(options.out / f"{stem}-{chart}.svg")
        for rest in directory.iterdir():
            rest.unlink()
        directory.rmdir()


def parse_options():
    """Of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cleave", default="build/release/cleave")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/reports"))
    parser.add_argument("--minutes", type=float, default=45)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cleave-seeds", type=int, default=10)
    parser.add_argument("--other-seeds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=0,
                        help="virtual, where load rests; 0 = as the workload needs")
    parser.add_argument("--only", nargs="*", help="these workloads")
    parser.add_argument("--no-twitter", action="store_true")
    return parser.parse_args()


def main():
    """Runs, draws and writes."""
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    draw(options)
    large = [] if options.only else simulate_large(options)
    deadline = begin + options.minutes * 60
    results = Results()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(simulate, options, job, deadline) for job in jobs_of(options)]
        for done in concurrent.futures.as_completed(runs):
            results.add(*done.result())
    version = subprocess.run([options.cleave, "--version"], capture_output=True, text=True,
                             stdin=subprocess.DEVNULL, check=False).stdout.strip() or "cleave"
    text = report_text(results, large, options, time.monotonic() - begin, version)
    (options.out / "balance.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
