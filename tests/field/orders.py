"""Orders: what is ordered is done, now or never, and the answer says which."""

import base64
import json
import os
import re
import signal
import subprocess
import time

from lab import CLEAVE, Redis, ReplyError, case, run_cleave, wait_for

SOON = 3.0  # seconds in which an order must be answered, with some room for a loaded machine


def refused_soon(lab, router, orders):
    """Each order is answered with 503 (or 504 unknown) and a reason, within two seconds or so."""
    for path, body in orders:
        status, text, took = router.attempt("POST", path, body, timeout=12)
        lab.must(
            status in (503, 504) and took < SOON,
            f"POST {path}: {status} after {took:.1f} s: {text[:100].strip()}",
        )


@case(
    "O5",
    "orders while the coordinator is away: 503 at once, and never carried out later",
    seconds=60,
)
def coordinator_away(lab):
    etcd = lab.etcd()
    servers = lab.servers(3)
    router = lab.router(servers[:2], coordination=etcd.coordination(), adopt=False)
    router.adopt()
    key = router.keys_of("a", 1)[0]
    router.call("SET", key, "v")
    etcd.freeze()
    time.sleep(1.0)
    refused_soon(
        lab,
        router,
        [
            ("/freeze", {}),
            ("/moves", {"key": key, "to": "b"}),
            ("/nodes", {"name": "late", "members": [f"127.0.0.1:{servers[2].port}"]}),
            ("/cuts", {"key": key}),
        ],
    )
    lab.must(router.call("GET", key) == b"v", "clients are not served meanwhile")
    etcd.thaw()
    wait_for("the coordinator", lambda: router.get("/status")["coordinator"] == "ok", 20, 0.2)
    time.sleep(6)
    now = router.get("/status")
    lab.must(not now["frozen"], "the freeze was carried out afterwards")
    lab.must(router.owner(key) == "a", "the move was carried out afterwards")
    lab.must(len(now["nodes"]) == 2, "the node joined afterwards")
    code, text = router.command("orders")
    lab.must(code == 0, f"cleave orders: {code} {text[:80]!r}")


@case("O5c", "an abort that could not be written changes nothing of what is told", seconds=75)
def refused_abort(lab):
    etcd = lab.etcd()
    first, second = lab.servers(2)
    router = lab.router(
        [first, second],
        coordination=etcd.coordination(),
        adopt=False,
        limits={"copy_bytes_per_second": 100_000},
    )
    router.adopt()
    first.fill(router.keys_of("a", 400), os.urandom(4_000))
    move = router.order("a", "b")
    wait_for("its copies", lambda: [m for m in router.moves() if m["keys_copied"]], 15, 0.05)
    etcd.freeze()
    # From then on nothing is sent that may land later.
    wait_for("it to be noticed", lambda: router.get("/status")["coordinator"] != "ok", 15, 0.2)
    refused_soon(lab, router, [("/freeze", {"abort": True})])
    fates = {o["fate"] for o in router.get("/orders?here")["orders"] if "freeze" in o["order"]}
    if not lab.must(fates == {"not-done"}, f"the check wants a refused order, has {fates}"):
        etcd.thaw()
        return
    first.kill()
    time.sleep(1.0)
    etcd.thaw()
    why = router.finish(move, 40)["why"]
    lab.must("by order" not in why and "a" in why, f"moves: {why}")
    told = [d for d in router.get("/decisions")["decisions"] if d["kind"] == "aborted"]
    reasons = [d["reason"] for d in told]
    lab.must(told and "by order" not in reasons[0], f"explain: {reasons}")
    lab.must("aborted by order" not in router.log(), "the log says: aborted by order")


@case("O5b", "the same with SQLite, whose file cannot be written", seconds=45)
def register_cannot_be_written(lab):
    import sqlite3

    servers = lab.servers(2)
    router = lab.router(servers)
    key = router.keys_of("a", 1)[0]
    lock = sqlite3.connect(
        os.path.join(router.directory, "ring.db"), timeout=5, isolation_level=None
    )
    lock.execute("BEGIN EXCLUSIVE")
    try:
        refused_soon(lab, router, [("/freeze", {}), ("/moves", {"key": key, "to": "b"})])
    finally:
        lock.execute("ROLLBACK")
        lock.close()
    time.sleep(5)
    lab.must(not router.get("/status")["frozen"], "the freeze was carried out afterwards")
    lab.must(router.owner(key) == "a", "the move was carried out afterwards")


@case(
    "124a",
    "a coordinator that takes no writes: told since when and why, orders get 503",
    seconds=75,
)
def coordinator_without_space(lab):
    etcd = lab.etcd("--quota-backend-bytes=2000000")
    router = lab.router(lab.servers(2), coordination=etcd.coordination(), adopt=False)
    router.adopt()
    key = router.keys_of("a", 1)[0]

    def put(number):
        value = base64.b64encode(os.urandom(300_000)).decode()
        name = base64.b64encode(f"fill{number}".encode()).decode()
        return etcd.ask("/v3/kv/put", {"key": name, "value": value})

    full = any("space" in json.dumps(put(number)) for number in range(20))
    if not lab.must(full, "etcd never became full"):
        return
    refused_soon(
        lab, router, [("/freeze", {}), ("/moves", {"key": key, "to": "b"}), ("/cuts", {"key": key})]
    )
    time.sleep(1)  # the first order has found it out
    told = str(router.get("/status")["coordinator"])
    lab.must("space" in told.lower() or "write" in told.lower(), f"/status: coordinator: {told}")
    lab.must("space" in router.log().lower(), "the log is silent")
    up = router.metric("cleave_coordinator_up")
    lab.must(up == 0, f"cleave_coordinator_up is {up}")
    lab.must(not isinstance(router.try_call("SET", key, "v"), ReplyError), "clients are not served")
    lab.must(len(router.get("/status")["routers"]) == 1, "the session was removed")


@case("124b", "tokens that expire and an etcd that restarts do no harm", seconds=60)
def etcd_with_users(lab):
    etcd = lab.etcd("--auth-token-ttl=5")
    for path, body in (
        ("/v3/auth/user/add", {"name": "root", "password": "pw"}),
        ("/v3/auth/role/add", {"name": "root"}),
        ("/v3/auth/user/grant", {"user": "root", "role": "root"}),
        ("/v3/auth/enable", {}),
    ):
        etcd.ask(path, body)
    where = etcd.coordination().replace("}", ", user: root, password: pw}")
    router = lab.router(lab.servers(2), coordination=where, adopt=False)
    router.adopt()
    time.sleep(6)
    lab.must(router.attempt("POST", "/freeze", {})[0] == 200, "a token that expired stops orders")
    etcd.kill()
    etcd.start()
    wait_for("the coordinator", lambda: router.get("/status")["coordinator"] == "ok", 15, 0.2)
    ends = time.monotonic() + 8
    status = 0
    while status != 200 and time.monotonic() < ends:
        status, text, _ = router.attempt("POST", "/resume", {})
        time.sleep(0.2)
    lab.must(status == 200, f"8 s after a restart: {status} {text[:200]}")


@case("O7", "presplit waits for fresh heat after a node left, or fails", seconds=60)
def presplit_after_a_change(lab):
    router = lab.router(lab.servers(3), mode="auto")
    with router.client() as client:
        task = lab.task(lambda: client.pipeline([("SET", f"k{n}", "v") for n in range(200)]), 0.02)
        time.sleep(5)
        code, text = router.command("node", "drain", "c")
        lab.must(code == 0, f"drain: {text[-100:]}")
        wait_for("c to be empty", lambda: not router.ranges("c") and not router.moves(), 30)
        router.settled(15)
        code, text = router.command("node", "remove", "c")
        lab.must(code == 0, f"remove: {text[-150:]}")
        event = lab.file("event.yaml", presplit_event())
        code, text = router.command("presplit", event, "--dry-run", timeout=40)
        task.stop()
    lab.must("of another ring" not in text, f"code {code}: {text[-200:]!r}")
    planned = re.search(r"(?m)^move  ", text) or re.search(r"\b[1-9][\d,]* moves?\b", text)
    lab.must(code != 0 or planned, f"code {code}: {text[-200:]!r}")


def presplit_event():
    day = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 86_400))
    return (
        f"events:\n  - name: sale\n    start: {day}T10:00:00Z\n    end: {day}T11:00:00Z\n"
        "    expect:\n      - keys: [k1, k2, k3]\n        rate: 20000\n"
    )


@case("O8", "flatten sets mode observe, is carried out, and stays until resume", seconds=60)
def flatten_stays(lab):
    router = lab.router(lab.servers(2), mode="auto")
    router.post("/cuts", {"key": "k1"})
    source = router.owner("k1")
    router.post("/moves", {"key": "k1", "to": "b" if source == "a" else "a"})
    router.settled()
    with router.client() as client:
        lab.task(lambda: client.pipeline([("SET", "k1", "v")] * 200), 0.005)
        time.sleep(3)
        code, text = router.command("flatten")
        lab.must(code == 0, f"flatten: {code} {text[-150:]}")
        mode = router.get("/status")["mode"]
        lab.must(mode == "observe", f"the mode is {mode}")
        wait_for("flat", lambda: not router.moves(), 20)
        time.sleep(10)
        cuts = router.get("/status")["cuts"]
        lab.must(cuts == 0, f"{cuts} cuts after the flattening")


@case("O10", "a folder in a file's place is a message and code 2")
def folder_for_a_file(lab):
    folder = lab.directory()
    for words in (
        ("serve", "--config", folder),
        ("import", folder),
        ("presplit", folder, "--dry-run"),
        ("ring", "show", "--config", folder),
        ("assess", "--config", folder, "--trace", folder),
    ):
        code, text = run_cleave(*words, timeout=15)
        lab.must(
            code == 2 and "terminate" not in text,
            f"{' '.join(words[:2])}: code {code}, {text[-120:]!r}",
        )


@case("O12", "SIGHUP does not end a router")
def hang_up(lab):
    router = lab.router([lab.server()])
    router.process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    lab.must(router.alive() and router.is_ready(), "it ended")


@case("O14", "approve is refused in mode observe", seconds=75)
def approve_while_observing(lab):
    router = lab.router(lab.servers(2))
    before = {m["id"] for m in router.get("/moves")["ended"]}
    with router.client() as client:
        hot = router.keys_of("a", 20)
        lab.task(lambda: client.pipeline([("SET", hot[n % 20], "v") for n in range(300)]), 0.005)
        try:
            wait_for("a plan", lambda: router.get("/plan").get("moves"), 45, 0.5)
        except TimeoutError:
            pass
        plan = router.get("/plan")
        body = {"plan": plan["id"]} if "id" in plan else {}
        status, text, _ = router.attempt("POST", "/plan/approve", body)
        begun = {m["id"] for m in router.moves() + router.get("/moves")["ended"]} - before
    lab.must(plan.get("moves"), "the check saw no plan to approve")
    lab.must(status == 409 and "observe" in text, f"approve: {status} {text[:150]}")
    lab.must(not begun, "a move began")


@case(
    "O15",
    "node add refuses a name that cannot be, a double, and a server that is there already",
    seconds=45,
)
def node_add(lab):
    first, second, third = lab.servers(3)
    router = lab.router([first, second])
    wrong = (
        ("g", f"localhost:{first.port}", "a node already"),
        ("a b", f"127.0.0.1:{third.port}", "a space"),
        ("a", f"127.0.0.1:{third.port}", "a double name"),
        ("h", "127.0.0.1:1", "a dead server"),
    )
    for name, address, what in wrong:
        code, text = router.command("node", "add", name, address)
        lab.must(code != 0, f"{what}: accepted: {text[-100:]!r}")
    for words in (
        ("z", f"localhost:{first.port}", "--force"),
        ("z", f"127.0.0.1:{third.port}", f"localhost:{first.port}"),
        ("z", f"127.0.0.1:{third.port}", f"LOCALHOST:{third.port}"),
    ):
        code, text = router.command("node", "add", *words)
        lab.must(code != 0, f"{' '.join(words)}: accepted: {text[-100:]!r}")
    names = [n["name"] for n in router.get("/status")["nodes"]]
    lab.must(names == ["a", "b"], f"nodes now: {names}")
    code, text = router.command("node", "add", "h", "127.0.0.1:1", "--force")
    lab.must(code == 0, f"a dead server by force: {code} {text[-100:]!r}")


@case("O16", "cut --at with no token is an error")
def cut_at_nonsense(lab):
    router = lab.router(lab.servers(2))
    code, text = router.command("cut", "--at", "0xzz")
    lab.must(code != 0, f"code {code}: {text[-100:]!r}")
    lab.must(router.get("/status")["cuts"] == 0, "a cut was made")


@case("O18", "a changed line of the file that is ignored is told at the start", seconds=40)
def changed_file(lab):
    router = lab.router(lab.servers(2))
    router.kill(signal.SIGTERM)
    with open(router.config, encoding="utf-8") as file:
        text = file.read()
    with open(router.config, "w", encoding="utf-8") as file:
        file.write(text.replace("{name: a,", "{name: a, weight: 7,"))
    before = len(router.log())
    router.start()
    time.sleep(1.5)
    told = router.log()[before:]
    lab.must("weight" in told, f"a changed weight is not told: {told[-250:]!r}")


@case("O20a", "a drain can be taken back; an aborted move of it does not begin again", seconds=60)
def drain_taken_back(lab):
    servers = lab.servers(3)
    router = lab.router(servers, mode="auto", limits={"copy_bytes_per_second": 200_000})
    servers[2].fill(router.keys_of("c", 1500), 400)
    router.command("node", "drain", "c")
    wait_for("a move of the drain", router.moves, 20, 0.1)
    move = router.moves()[0]["id"]
    router.command("abort", str(move))
    ends = time.monotonic() + 5
    again = []
    while time.monotonic() < ends and not again:
        again = [m for m in router.moves() if m["id"] != move and m["source"] == "c"]
        time.sleep(0.1)
    lab.must(not again, "5 s after the abort the same move begins")
    code, text = router.command("node", "undrain", "c")
    lab.must(
        code == 0 and router.node("c")["state"] == "active", f"undrain: {code} {text[-100:]!r}"
    )


@case("O20b", "freeze --abort and abort --all end what is under way", seconds=45)
def all_aborted(lab):
    first, second, router = lab.pair(limits={"copy_bytes_per_second": 200_000})
    first.fill((f"k{n}" for n in range(5000)), 300)
    for words in (("freeze", "--abort"), ("abort", "--all")):
        router.order("a", "b")
        time.sleep(0.5)
        code, text = router.command(*words)
        lab.must(code == 0, f"cleave {' '.join(words)}: {code} {text[-100:]!r}")
        time.sleep(1.0)
        lab.must(not router.moves(), f"after {' '.join(words)} a move is under way")
        router.command("resume")
        if router.moves():
            router.command("abort", str(router.moves()[0]["id"]))
            time.sleep(1)
        router.settled(20)


@case(
    "O23",
    "during a drain plan says so; a move to the owner is refused with the true reason",
    seconds=60,
)
def plan_in_a_drain(lab):
    servers = lab.servers(3)
    router = lab.router(servers, mode="auto", limits={"copy_bytes_per_second": 200_000})
    servers[2].fill(router.keys_of("c", 1500), 400)
    router.command("node", "drain", "c")
    wait_for("a move of the drain", router.moves, 20, 0.1)
    time.sleep(2.2)
    _, text = router.command("plan")
    lab.must("nothing to do" not in text or "drain" in text, f"plan: {text[:200]!r}")
    key = router.keys_of("a", 1)[0]
    status, text, _ = router.attempt("POST", "/moves", {"key": key, "to": "a"})
    lab.must(
        status >= 400 and "two names" not in text, f"a move to its owner: {status} {text[:150]}"
    )


@case("O27", "files with passwords are 0600 and not overwritten unasked", seconds=30)
def files_with_passwords(lab):
    router = lab.router([lab.server()])
    folder = lab.directory()
    source = lab.file(
        "nutcracker.yml",
        "alpha:\n  listen: 127.0.0.1:22121\n  hash: fnv1a_64\n  distribution: ketama\n"
        "  redis: true\n  redis_auth: secret\n  servers:\n"
        "   - 127.0.0.1:6379:1 a\n   - 127.0.0.1:6380:1 b\n",
    )
    path = os.path.join(folder, "cleave.yaml")
    code, text = run_cleave("import", source, "--out", path)
    if not lab.must(code == 0, f"import: {code} {text[-200:]!r}"):
        return
    lab.must(os.stat(path).st_mode & 0o077 == 0, f"mode {os.stat(path).st_mode & 0o777:o}")
    with open(path, "a", encoding="utf-8") as file:
        file.write("# edited\n")
    code, text = run_cleave("import", source, "--out", path)
    with open(path, encoding="utf-8") as file:
        kept = "# edited" in file.read()
    lab.must(code != 0 and kept, f"an edited file: code {code}, kept: {kept}")
    lab.must(router.alive(), "the router died")


@case("O28", "HEAD is answered as GET is; the token survives the way to the leader", seconds=60)
def head_and_followers(lab):
    router = lab.router([lab.server()])
    status, _, body = router.http("HEAD", "/ready")
    lab.must(status == 200 and not body, f"HEAD /ready: {status}")
    etcd = lab.etcd()
    servers = lab.servers(2)
    token = ", token: secret"
    fleet = [
        lab.router(servers, coordination=etcd.coordination(), admin=token, start=False)
        for _ in range(2)
    ]
    authorized = {"Authorization": "Bearer secret"}
    for one in fleet:
        one.start()

    def leads(one):
        return json.loads(one.http("GET", "/status", headers=authorized)[2]).get("leader")

    wait_for("a leader", lambda: any(leads(one) for one in fleet), 20, 0.2)
    follower = next(one for one in fleet if not leads(one))
    status, told, body = follower.http("GET", "/moves", headers=authorized)
    lab.must(status == 200, f"GET /moves of a follower: {status} {told.get('location')}")
    status, _, body = follower.http("GET", "/moves", headers={"Authorization": "Bearer wrong"})
    lab.must(status == 401, f"a wrong token at a follower: {status}")


@case("O33", "a wrong token: the message names CLEAVE_TOKEN")
def wrong_token(lab):
    router = lab.router([lab.server()], admin=", token: secret", start=False)
    router.start(ready=True)
    code, text = router.command("status")
    lab.must(code != 0 and "CLEAVE_TOKEN" in text, f"code {code}: {text[-150:]!r}")


@case("S1", "orders of a web page are refused: JSON, Origin, Host")
def orders_from_a_web_page(lab):
    router = lab.router([lab.server()])
    json_type = {"Content-Type": "application/json"}
    for headers, what in (
        ({"Content-Type": "text/plain"}, "text/plain"),
        ({}, "no content type"),
        ({**json_type, "Origin": "http://evil.example"}, "a foreign Origin"),
        ({**json_type, "Host": "evil.example"}, "a foreign Host"),
    ):
        status, _, text = router.http("POST", "/freeze", b"{}", headers)
        lab.must(status >= 400, f"{what}: {status}")
        if "Host" in what:
            lab.must(
                status == 421 and b"admin.hosts" in text, f"a foreign Host: {status} {text[:120]}"
            )
    status, _, _ = router.http("POST", "/freeze", b"{}", json_type)
    lab.must(status == 200, f"JSON without Origin: {status}")
    for path in ("/ready", "/metrics"):
        status, _, _ = router.http("GET", path, headers={"Host": "balancer.internal"})
        lab.must(status == 200, f"{path} with another Host: {status}")


@case("B10", "cleave down ends children that a killed up left", seconds=45)
def children_of_a_killed_up(lab):
    import harness

    folder = os.path.join(lab.directory(), "pool")
    port, admin = harness.free_port(), harness.free_port()
    with open(os.path.join(lab.base, "up.log"), "wb") as log:
        process = subprocess.Popen(
            [
                CLEAVE,
                "up",
                "--nodes",
                "2",
                "--dir",
                folder,
                "--port",
                str(port),
                "--admin-port",
                str(admin),
            ],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )

    def answers():
        try:
            with Redis(port, 1) as client:
                return client.call("SET", "k", "v") == b"OK"
        except (OSError, ReplyError):
            return False

    wait_for("up", answers, 15, 0.1)
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], stdout=subprocess.PIPE, check=False
    ).stdout.split()
    process.kill()
    process.wait()
    code, text = run_cleave("down", "--dir", folder)
    time.sleep(1)
    alive = [child for child in children if runs(int(child))]
    lab.must(
        code == 0 and not alive,
        f"cleave down: {code} {text[-100:]!r}, {len(alive)} of {len(children)} alive",
    )


def runs(pid):
    """Whether the process is there, and no zombie that nobody has waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@case("B10u", "undo works by what explain and moves show")
def undo(lab):
    first, second, router = lab.pair()
    first.fill(("k1", "k2"), "v")
    router.finish(router.order("a", "b"))
    router.settled()
    code, text = router.command("moves")
    lab.must(code == 0, f"cleave moves: {code} {text[-100:]!r}")
    move = router.get("/moves")["ended"][0]["id"]
    lab.must(str(move) in text, f"cleave moves does not show {move}: {text[-200:]!r}")
    code, told = router.command("undo", str(move))
    lab.must(code == 0, f"undo {move}: {told[-150:]!r}")
    router.settled()
    lab.must(not router.ranges("b"), "the move was not undone")
    move = router.order("a", "b")
    router.finish(move)
    router.settled()
    router.kill(signal.SIGTERM)
    router.start()
    router.leading()
    time.sleep(1)
    code, text = router.command("moves")
    lab.must(code == 0 and str(move) in text, f"cleave moves after a restart: {text[-200:]!r}")
    code, told = router.command("undo", str(move))
    lab.must(code == 0, f"undo {move} after a restart: {told[-150:]!r}")
    router.settled()
    lab.must(not router.ranges("b"), "the move was not undone after a restart")
    code, told = router.command("undo", str(move))
    lab.must(code != 0 and "nothing to move back" in told, f"undo {move} again: {told[-150:]!r}")
    code, told = router.command("undo", "999999")
    lab.must("no committed move 999999 is known" in told, f"undo 999999: {told[-150:]!r}")


@case("B10r", "a move that never began is refused, not aborted, not told as ordered", seconds=45)
def refused_move(lab):
    first, second, router = lab.pair()
    first.fill(("k1", "k2"), "v")
    before = router.get("/status")["move_totals"]["aborted"]
    second.call("CONFIG", "SET", "maxmemory", "1000000")
    status, text, _ = router.attempt(
        "POST", "/moves", {"ranges": router.ranges("a"), "to": "b", "reason": "a trial"}
    )
    lab.must(status >= 400 and "OOM" in text, f"the move: {status} {text[:150]}")
    time.sleep(0.5)
    newest = router.get("/moves")["ended"][0]
    lab.must(newest["end"] == "refused" and "OOM" in newest["why"], f"moves: {newest}")
    code, text = router.command("moves")
    rows = [line.split() for line in text.splitlines() if "refused" in line]
    lab.must(code == 0 and rows and rows[0][0] == "-", f"cleave moves: {text[-300:]!r}")
    aborted = router.get("/status")["move_totals"]["aborted"]
    lab.must(aborted == before, f"{aborted - before} moves count as aborted")
    told = [d["kind"] for d in router.get("/decisions")["decisions"] if d.get("source") == "a"]
    lab.must(told[:1] == ["refused"] and "order" not in told[:2], f"explain: {told[:4]}")


@case("B10s", "explain names nodes, and ranges as orders take them", seconds=45)
def names_and_ranges(lab):
    router = lab.router(lab.servers(3))
    router.command("cut", "--at", "0x8000000000000000")
    code, text = router.command("merge", "--range", "0x0-0xffffffffffffffff")
    lab.must(code == 0, f"merge: {text[-150:]!r}")
    code, text = router.command("merge", "--range", "0x0-0xffffffffffffffff")
    lab.must("in 0000000000000000-ffffffffffffffff" in text, f"merge again: {text[-150:]!r}")
    for words in (("drain", "c"), ("undrain", "c"), ("weight", "c", "2")):
        router.command("node", *words)
    subjects = [d["subject"] for d in router.get("/decisions")["decisions"]]
    lab.must(not [s for s in subjects if "(" in s or "]" in s], f"ranges: {subjects}")
    for wanted in ("drain c", "undrain c", "weight of c: 2"):
        lab.must(wanted in subjects, f"{wanted} is not among {subjects}")
    lab.must("drain c" in router.log(), "the log does not name the node")


@case("B10t", "a leader that hangs does not keep people waiting at a follower", seconds=60)
def hung_leader(lab):
    etcd = lab.etcd()
    servers = lab.servers(2)
    fleet = [lab.router(servers, coordination=etcd.coordination(), start=False) for _ in range(2)]
    for one in fleet:
        one.start()
    wait_for("a leader", lambda: any(f.get("/status")["leader"] for f in fleet), 15, 0.2)
    leader = next(f for f in fleet if f.get("/status")["leader"])
    follower = next(f for f in fleet if f is not leader)
    leader.adopt()
    wait_for("heat", lambda: "planned" in follower.get("/status?leader"), 10, 0.2)
    key = follower.keys_of("a", 1)[0]
    leader.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        code, text = follower.command("status")
        took = time.monotonic() - began
        lab.must(code == 0 and took < 4.0, f"cleave status took {took:.1f} s: {text[-100:]!r}")
        status, text, took = follower.attempt("POST", "/moves", {"key": key, "to": "b"}, timeout=12)
        lab.must(
            took < 6.5 and status in (202, 503, 504),
            f"a move: {status} after {took:.1f} s: {text[:120]}",
        )
        wait_for("another leader", lambda: follower.get("/status")["leader"], 10, 0.1)
        began = time.monotonic()
        follower.command("status")
        lab.must(time.monotonic() - began < 1.0, "it leads, and status is slow")
    finally:
        leader.process.send_signal(signal.SIGCONT)
