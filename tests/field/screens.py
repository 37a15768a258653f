"""What people are shown: status, plan, explain, logs, metrics, and their files."""

import http.server
import json
import os
import re
import signal
import threading
import time

from prometheus_client.parser import text_string_to_metric_families

from lab import Redis, case, run_cleave, wait_for


def long_lines(text, most=80):
    return [line for line in text.splitlines() if len(line) > most]


@case(
    "118a",
    "keys that are no text are shown lossless, and what is shown can be given back",
    seconds=60,
)
def keys_that_are_no_text(lab):
    servers = lab.servers(2)
    router = lab.router(servers)
    names = [
        b"with space",
        b"new\nline",
        b"\xd6\xd0\xb9\xfa:gbk",
        b"\x00\xff\x01bin",
        b'quote"x\\y',
        b"\x1b[2J\x1b[31mred",
        b"",
        b"}{",
        b"%2F+%20",
        b"\xff1",
        b"\xfe1",
    ]
    with router.client() as client:

        def load():
            client.pipeline([("SET", name, "v") for name in names] * 20)
            time.sleep(0.02)

        task = lab.task(load)
        time.sleep(7)
        status, _, raw = router.http("GET", "/heat")
        task.stop()
    heat = raw.decode("utf-8")
    lab.must("\ufffd" not in heat, "/heat shows bytes as U+FFFD")
    shown = [k["key"] for k in json.loads(heat)["keys"]]
    lab.must(len(set(shown)) == len(shown) and len(shown) >= 5, f"names shown: {shown[:4]}")
    for name in shown[:8]:
        status, text, _ = router.attempt("POST", "/moves", {"key": name, "to": "nobody"})
        lab.must("nobody" in text, f"the key as shown cannot be given back: {name!r}: {text[:80]}")
    router.order("a", "b")
    router.settled()
    with router.client() as client:
        lost = [name for name in names if client.call("GET", name) != b"v"]
    lab.must(not lost, f"lost in a move: {lost}")


@case(
    "118b",
    "the scrape parses whatever keys are hot; no escape reaches a terminal or the log",
    seconds=60,
)
def odd_keys_on_screens(lab):
    servers = lab.servers(2)
    router = lab.router(servers)
    evil = b"evil\x1b[2J\x1b]0;owned\x07\n22:00:00 committed all is well"
    with router.client(30) as client:
        for begin in range(0, 10_000, 100):
            client.pipeline(
                [("XADD", evil, f"{begin + n + 1}-1", "f", os.urandom(1000)) for n in range(100)]
            )
    source = router.owner(evil)
    router.order(source, "b" if source == "a" else "a")
    router.settled(40)
    for words in (("explain",), ("status", "--ranges"), ("plan",), ("status",)):
        _, text = router.command(*words)
        bad = [line for line in text.splitlines() if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", line)]
        lab.must(not bad, f"cleave {words[0]} prints {bad[:1]!r}"[:200])
    bad = [line for line in router.log().splitlines() if "\x1b" in line]
    lab.must(not bad, f"the log has {bad[:1]!r}"[:200])
    families = list(text_string_to_metric_families(router.get("/metrics")))
    lab.must(len(families) > 10, f"{len(families)} families in the scrape")


@case(
    "118c",
    "a key longer than routers take, put directly on a server, moves with its range",
    seconds=40,
)
def overlong_key(lab):
    first, second, router = lab.pair()
    first.call("SET", b"k" * 70_000, "v")
    first.fill((f"k{n}" for n in range(200)), "v")
    ended = router.finish(router.order("a", "b"))
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why'][:120]}")
    router.settled()
    lab.must(
        second.call("EXISTS", b"k" * 70_000) == 1 or first.call("EXISTS", b"k" * 70_000) == 1,
        "it is gone",
    )


@case("O4", "one hot key: plan, explain and status say unsplittable, with its name", seconds=75)
def one_hot_key(lab):
    router = lab.router(lab.servers(2), mode="auto")
    with router.client() as client:
        client.pipeline([("SET", f"k{n}", "v") for n in range(500)])
        task = lab.task(
            lambda: client.pipeline(
                [("GET", "the-hot-one")] * 300 + [("GET", f"k{n}") for n in range(30)]
            ),
            0.0,
        )
        plan = ""
        ends = time.monotonic() + 45
        while time.monotonic() < ends and "unsplittable" not in plan:
            time.sleep(1)
            _, plan = router.command("plan")
        _, explained = router.command("explain")
        _, status = router.command("status")
        task.stop()
    lab.must("unsplittable" in plan and "the-hot-one" in plan, f"plan: {plan[-300:]!r}")
    for what, said in (("explain", explained), ("status", status)):
        flat = " ".join(said.split())
        lab.must("unsplittable" in flat and "the-hot-one" in flat, f"{what}: {said[:300]!r}")


@case(
    "O6",
    "a server that goes, and a coordinator that goes, are one log line each, and a metric",
    seconds=60,
)
def changes_of_state(lab):
    etcd = lab.etcd()
    first, second = lab.servers(2)
    router = lab.router([first, second], coordination=etcd.coordination(), adopt=False)
    router.adopt()
    second.kill()
    etcd.freeze()
    time.sleep(8)
    down, away = router.log(), router.metric("cleave_coordinator_up")
    lab.must(
        re.search(r"(?i)node '?b'?\b.*down|down.*node '?b'?\b", down), "no line that node b is down"
    )
    lab.must(
        re.search(
            r"(?i)coordinator",
            "\n".join(l for l in down.splitlines() if "away" in l or "answer" in l),
        ),
        f"no line that the coordinator is away: {down[-200:]!r}",
    )
    lab.must(away == 0, f"cleave_coordinator_up is {away}")
    lab.must(
        router.metric("cleave_node_up") == 1, f"cleave_node_up: {router.metric('cleave_node_up')}"
    )
    before = len(down)
    etcd.thaw()
    second.start()
    time.sleep(6)
    back = router.log()[before:]
    lab.must("coordinator" in back, "no line that the coordinator is back")
    lab.must(
        re.search(r"node '?b'?\b.*(up|back)", back), f"no line that node b is back: {back[-200:]!r}"
    )
    lab.must(re.search(r"\d{4}-\d\d-\d\d", back), "log lines have no date")


@case("O17", "assess has no hourly budget of keys", seconds=40)
def assess_without_budget(lab):
    lines = ["time,key,op,bytes"]
    for number in range(60_000):
        key = f"hot{number % 40}" if number % 3 else f"k{number % 5000}"
        lines.append(f"{number / 1000:.3f},{key},GET,100")
    trace = lab.file("trace.csv", "\n".join(lines) + "\n")
    nodes = [w for n in range(8) for w in ("--node", f"n{n}=1")]
    code, text = run_cleave("assess", *nodes, "--trace", trace, timeout=35)
    lab.must(code == 0, f"code {code}: {text[-200:]!r}")
    lab.must(
        "budget" not in text,
        f"it speaks of a budget: {[l for l in text.splitlines() if 'budget' in l][:1]}",
    )


@case(
    "O19",
    "explain and decisions name source, destination and move; ranges can be given back",
    seconds=40,
)
def explained_moves(lab):
    first, second, router = lab.pair()
    first.fill((f"k{n}" for n in range(50)), "v")
    move = router.post("/moves", {"key": "k1", "to": "b"})["move"]
    router.finish(move)
    router.settled()
    _, text = router.command("explain")
    lab.must(re.search(r"\ba\b.*\bb\b", text) and str(move) in text, f"explain: {text[:200]!r}")
    for more in (("explain", "-v"), ("moves",)):
        text += router.command(*more)[1]
    shown = re.search(r"[0-9a-f]{16}-[0-9a-f]{16}", text)
    if lab.must(shown, "no range as `move --range` wants it"):
        code, told = router.command("move", "--range", shown[0], "--to", "a")
        lab.must(code == 0, f"move --range {shown[0]}: {told[-120:]!r}")
    decision = router.get("/decisions")["decisions"]
    lab.must(
        any(
            str(move) in json.dumps(d) and d.get("source") == "a" and d.get("destination") == "b"
            for d in decision
        ),
        f"/decisions: {decision[:1]}"[:250],
    )


@case("O21a", "before adoption status says so; unknown is not 0; loads are numbers", seconds=40)
def status_before_adoption(lab):
    router = lab.router(lab.servers(2), adopt=False)
    time.sleep(1)
    _, text = router.command("status")
    lab.must("adopt" in text, f"status before adopt: {text[:300]!r}")
    for name in "ab":
        row = re.search(rf"(?m)^{name} .*$", text)
        lab.must(row and re.search(r"\d[kM]$|\?$", row[0]), f"no memory of {name}: {text!r}")
    lab.must(not re.search(r"#{8,}|█{8,}", text), "a full bar at 0 requests/s")


@case("O21b", "a replica in a node's place is told", seconds=30)
def replica_as_node(lab):
    primary, replica = lab.servers(2)
    replica.call("REPLICAOF", "127.0.0.1", str(primary.port))
    router = lab.router([replica], adopt=False)
    time.sleep(1.5)
    _, text = router.command("status")
    lab.must("replica" in text, f"status: {text[:300]!r}")


@case("O22", "after the leader's death the next one knows keys, requests and decisions", seconds=60)
def next_leader(lab):
    etcd = lab.etcd()
    servers = lab.servers(2)
    fleet = [lab.router(servers, coordination=etcd.coordination(), start=False) for _ in range(2)]
    for one in fleet:
        one.start()
    wait_for("a leader", lambda: any(o.get("/status")["leader"] for o in fleet), 15, 0.2)
    leader = next(o for o in fleet if o.get("/status")["leader"])
    other = next(o for o in fleet if o is not leader)
    leader.adopt()
    servers[0].fill((f"k{n}" for n in range(500)), "v")
    move = leader.post("/moves", {"key": "k1", "to": "b" if leader.owner("k1") == "a" else "a"})[
        "move"
    ]
    leader.finish(move)
    leader.kill(signal.SIGKILL)
    wait_for("the next leader", lambda: other.get("/status")["leader"], 20, 0.1)
    keys = [n.get("keys") for n in other.get("/status")["nodes"]]
    lab.must(None not in keys and sum(keys) == 500, f"keys at once: {keys}")
    time.sleep(1)
    decisions = json.dumps(other.get("/decisions"))
    lab.must(
        str(move) in decisions, f"the old leader's move is not in its decisions: {decisions[:150]}"
    )


@case("O24", "a bypassed node is warned of in ordered moves; a little is no veto", seconds=75)
def bypassed_node(lab):
    first, second, router = lab.pair()
    first.fill((f"k{n}" for n in range(200)), "v")
    number = [0]

    def write():
        number[0] += 1
        with Redis(first.port) as client:
            client.pipeline([("SET", f"bypass{number[0] % 50}", "x")] * 200)

    task = lab.task(write, 0.05)
    try:
        wait_for("the foreign writes", lambda: router.node("a").get("foreign_writes"), 35, 0.5)
    except TimeoutError:
        lab.must(False, "foreign writes are not seen within 35 s")
    code, text = router.command("move", "--key", "k1", "--to", "b")
    task.stop()
    lab.must(
        "past the routers" in text or "bypass" in text,
        f"an ordered move is not warned of: {code} {text[-150:]!r}",
    )


@case("O26", "an eviction policy in a store is warned of", seconds=30)
def eviction_in_a_store(lab):
    server = lab.server("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    router = lab.router([server, lab.server()], adopt=False)
    code, text = router.command("adopt", "--yes")
    time.sleep(2)
    _, status = router.command("status")
    told = text + status + router.log()
    lab.must(
        "evict" in told or "allkeys-lru" in told,
        f"adopt ({code}), status and log do not tell: {text[-200:]!r}",
    )


@case("O30", "status fits 80 columns, down nodes and --ranges included", seconds=40)
def eighty_columns(lab):
    first, second, router = lab.pair()
    for number in range(3):
        router.finish(router.post("/moves", {"key": f"k{number}", "to": "b"})["move"])
    second.kill()
    time.sleep(4)
    for words in (("status",), ("status", "--ranges"), ("plan",)):
        _, text = router.command(*words)
        wide = long_lines(text)
        lab.must(
            not wide,
            f"cleave {' '.join(words)}: {len(wide)} lines, "
            f"the longest {max(map(len, wide), default=0)}"
            f" characters: {wide[:1]}"[:250],
        )


@case("O29", "pictures of rings with many long names tell them apart", seconds=40)
def long_names_in_pictures(lab):
    nodes = "".join(
        f"      - {{name: redis-prod-eu-west-{n}, members: [{{address: '10.0.0.{n}:6379'}}]}}\n"
        for n in range(1, 41)
    )
    config = lab.file(
        "cleave.yaml",
        "listeners: [{address: 127.0.0.1:0, protocol: redis, pool: main}]\n"
        "pools:\n  - name: main\n    ring: {scheme: vnode}\n    nodes:\n" + nodes,
    )
    path = os.path.join(lab.directory(), "ring.svg")
    code, text = run_cleave(
        "ring", "show", "--config", config, "--svg", path, "--png", path[:-3] + "png", timeout=30
    )
    if not lab.must(code == 0, f"{code} {text[-150:]!r}"):
        return
    with open(path, encoding="utf-8") as file:
        shown = re.findall(r"<text[^>]*>([^<]*(?:redis|…)[^<]*)<", file.read())
    doubles = len(shown) - len(set(shown))
    lab.must(
        doubles == 0, f"{doubles} of {len(shown)} labels are like another: {sorted(shown)[:2]}"
    )


@case("O31", "simulate --pictures: what happens takes up the axis", seconds=90)
def pictures_of_a_run(lab):
    folder = lab.directory()
    code, text = run_cleave(
        "simulate", "--workload", "zipf:0.99", "--pictures", folder, "--json", timeout=80
    )
    made = [name for name in os.listdir(folder) if name.endswith(".svg")]
    if not lab.must(code == 0 and made, f"code {code}, {made}: {text[-200:]!r}"):
        return
    converged = json.loads(text.strip().splitlines()[-1])["seconds_to_converge"]
    with open(os.path.join(folder, "peak.svg"), encoding="utf-8") as file:
        texts = re.findall(r"<text[^>]*>([^<]*)<", file.read())
    at = next(n for n, text in enumerate(texts) if text.startswith("time since the start"))
    unit = {"(s)": 1, "(min)": 60, "(h)": 3600}[texts[at].split()[-1]]
    ticks = [float(text) for text in texts[:at] if re.fullmatch(r"[\d.]+", text)]
    last = ticks[-1] * unit
    lab.must(
        last < 12 * max(converged, 20),
        f"level after {converged} s, the last tick is at {last:.0f} s",
    )


@case("L13", "log: {format: json} makes one JSON object a line, with date and zone", seconds=30)
def json_log(lab):
    router = lab.router([lab.server()], extra="log: {format: json}\n", start=False)
    router.start(ready=False)
    time.sleep(3)
    lines = router.log().splitlines()
    if not lab.must(router.alive() and lines, f"it does not start: {lines[-1:]}"):
        return
    for line in lines:
        try:
            told = json.loads(line)
        except ValueError:
            lab.must(False, f"no JSON: {line[:120]!r}")
            return
    lab.must(
        any(re.search(r"\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:?\d\d)", str(v)) for v in told.values()),
        f"no date and zone: {line[:150]}",
    )


@case(
    "L14",
    "status tells role, memory, the hottest key, and the command that stops a move",
    seconds=45,
)
def what_status_tells(lab):
    first, second, router = lab.pair(limits={"copy_bytes_per_second": 100_000})
    first.fill((f"k{n}" for n in range(4000)), 300)
    with router.client() as client:
        lab.task(lambda: client.pipeline([("GET", "k7")] * 100), 0.01)
        time.sleep(5)
        router.order("a", "b")
        time.sleep(1)
        _, text = router.command("status")
    for word in ("k7", "abort"):
        lab.must(word in text, f"status does not show {word!r}: {text[:600]!r}")
    node = router.node("a")
    for field in ("role", "memory_bytes", "load_ns"):
        lab.must(field in node, f"/status of a node has no {field}")
    metrics = router.get("/metrics")
    for name in ("cleave_build_info", "process_", "cleave_coordinator_up", "cleave_node_load"):
        lab.must(name in metrics, f"no metric {name}")


@case("W11", "one Host header in the webhook", seconds=60)
def host_of_the_webhook(lab):
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # noqa: N802, the name is the library's
            seen.append(self.headers.get_all("Host"))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    where = f", webhook: 'http://127.0.0.1:{listener.server_address[1]}/hook'"
    router = lab.router(
        lab.servers(2), balance=where + ", constants: {advise_ppm: 2000, advise_to_ppm: 1000}"
    )
    with router.client() as client:
        lab.task(lambda: client.pipeline([("SET", f"k{n}", "v") for n in range(300)]), 0.02)
        try:
            wait_for("a post", lambda: seen, 40, 0.2)
            lab.must(len(seen[0]) == 1, f"Host headers: {seen[0]}")
        except TimeoutError:
            lab.must(False, "no advice was posted")
    listener.shutdown()
