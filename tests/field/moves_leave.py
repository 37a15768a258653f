"""What moves leave behind, and what lay there before: copies are cleaned, foreign keys are not."""

import glob
import json
import os
import re
import time
import zlib

import harness
from lab import Redis, Relay, case, run_cleave, wait_for


@case(
    "114",
    "keys that scripts make up are counted, named, and stop the balancer, not silently lost",
    seconds=90,
)
def made_up_keys(lab):
    servers = lab.servers(2)
    router = lab.router(servers, mode="auto", balance=", constants: {hot_capacity_ppm: 5000}")
    script = "local k=KEYS[1]..':'..ARGV[1]; return redis.call('INCR',k)"
    with router.client() as client:
        for number in range(60):
            for _ in range(5):
                client.call("EVAL", script, 1, f"limit{number}", "w1")
    strays = sum(
        router.owner(key) != name for server, name in zip(servers, "ab") for key in server.keys()
    )
    strays_told(lab, router)
    code, text = router.command("strays", timeout=20)
    lab.must(code == 0 and re.search(r"limit\d+:w1", text), f"cleave strays: {code} {text[:150]!r}")
    lab.must(strays > 0, "the check made no strays")
    docs = open_docs()
    lab.must(
        re.search("undeclared|makes? up|did not name", docs),
        "docs do not say what becomes of keys that scripts make up",
    )
    balancer_waits(lab, router)


def balancer_waits(lab, router):
    """Where one node is hot, nothing moves while strays may be keys that scripts made up, also
    under a leader that was not there when the scripts ran; then a person accepts them."""
    hot = [f"limit{n}" for n in range(60) if router.owner(f"limit{n}") == "a"]

    def ask():
        with router.client() as client:
            for _ in range(50):
                client.pipeline([("GET", key) for key in hot])

    def waits(since):
        return [
            d
            for d in router.get("/decisions")["decisions"]
            if d["kind"] == "nothing"
            and d["reason"].startswith("scripts: ")
            and d["at_ms"] > since  # the next leader knows those of the last one
        ]

    def waiting(who):
        began = time.time() * 1000
        asking = lab.task(ask)
        try:
            wait_for("a move that waits", lambda: waits(began), 25, 0.3)
        except TimeoutError:
            lab.must(False, f"{who} does not say that a move waits for scripts")
        moved = router.get("/moves")
        lab.must(not moved["moves"] + moved["ended"], f"{who} moves {moved}"[:200])
        asking.stop()

    waiting("the leader")
    router.kill(15)
    router.start()
    router.leading()
    waiting("the next leader")
    code, text = router.command("strays", "--accept", timeout=20)
    lab.must(code == 0, f"strays --accept: {code} {text[:150]!r}")
    asking = lab.task(ask)
    try:
        wait_for("the move", lambda: router.get("/moves")["ended"], 25, 0.3)
    except TimeoutError:
        lab.must(False, "nothing moves after strays --accept")
    asking.stop()


def open_docs():
    text = ""
    for path in [
        os.path.join(harness.ROOT, "README.md"),
        *glob.glob(os.path.join(harness.ROOT, "docs", "*.md")),
    ]:
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return text


def strays_told(lab, router, seconds=20):
    """Status and a metric count strays."""

    def counted():
        told = [node.get("strays") for node in router.get("/status")["nodes"]]
        return sum(one["strays"] if isinstance(one, dict) else one or 0 for one in told)

    try:
        wait_for("strays", counted, seconds, 0.3)
    except TimeoutError:
        lab.must(False, "status counts no strays")
    lab.must((router.metric("cleave_node_strays") or 0) > 0, "no metric counts strays")


def flushed_in_moves(lab, rounds, limits=None):
    """Flushes into moves, each (command, pause): no old key stays, on any server."""
    first, second, router = lab.pair(limits=limits)
    back, lost, stay = 0, 0, 0
    for number, (command, pause) in enumerate(rounds):
        source, server = ("a", first) if router.ranges("a") else ("b", second)
        server.fill((f"old{number}:{n}" for n in range(8000)), 200)
        move = router.order(source, "b" if source == "a" else "a")
        time.sleep(pause)
        with router.client(30) as client:
            client.call(*command)
            client.call("SET", f"new{number}", "1")
            back += sum(
                client.call("EXISTS", *[f"old{number}:{n}" for n in range(b, b + 500)])
                for b in range(0, 8000, 500)
            )
            router.finish(move, 20)
            lost += client.call("GET", f"new{number}") != b"1"
            ends = time.monotonic() + 5
            while client.call("DBSIZE") != 1 and time.monotonic() < ends:
                time.sleep(0.05)
            stay += client.call("DBSIZE") - 1
    lab.must(back == 0, f"{back} old keys are readable after +OK")
    lab.must(lost == 0, f"{lost} SETs behind a flush are lost")
    old = sum(k.startswith(b"old") for s in (first, second) for k in s.keys())
    lab.must(
        stay == 0 and old == 0, f"DBSIZE stays {stay} too high, {old} old copies lie on the servers"
    )
    lab.must(not first.own_keys() and not second.own_keys(), "hidden keys stay")


@case("115a", "FLUSHALL while a range is copied leaves nothing", seconds=60)
def flushall_in_a_copy(lab):
    flushed_in_moves(
        lab,
        [(("FLUSHALL",), pause) for pause in (0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2)],
        {"copy_bytes_per_second": 0},
    )


@case("115b", "FLUSHALL ASYNC and FLUSHDB the same, at other moments", seconds=60)
def other_flushes_in_a_copy(lab):
    flushed_in_moves(
        lab,
        [
            (("FLUSHALL", "ASYNC"), 0.05),
            (("FLUSHDB",), 0.09),
            (("FLUSHDB",), 0.03),
            (("FLUSHALL", "ASYNC"), 0.12),
        ],
        {"copy_bytes_per_second": 0},
    )


@case("115c", "FLUSHALL keeps marker and note of the ring, so that moves go on afterwards")
def flushall_keeps_markers(lab):
    first, second, router = lab.pair()
    router.call("SET", "k", "v")

    def lasting():
        return [s.call("MGET", "cleave:{owner}", "cleave:{ring}") for s in (first, second)]

    before = lasting()
    lab.must(all(value for pair in before for value in pair), f"before the flush: {before}")
    router.call("FLUSHALL")
    after = lasting()
    lab.must(after == before, f"marker and note were {before}, are {after}"[:300])
    router.call("SET", "k", "v")
    ended = router.finish(router.order("a", "b"))
    lab.must(ended["end"] == "committed", f"a move after FLUSHALL: {ended['why']}")


@case("116a", "DBSIZE counts a key once, during a move and after an aborted one", seconds=45)
def dbsize_in_a_move(lab):
    first, second, router = lab.pair(limits={"copy_bytes_per_second": 3_000_000})
    first.fill((f"k{n}" for n in range(40_000)), 100)
    seen = set()
    with router.client() as client:
        move = router.order("a", "b")
        while not router.ended(move):
            seen.add(client.call("DBSIZE"))
            time.sleep(0.03)
        move = router.order("b", "a")
        time.sleep(0.6)
        router.post(f"/moves/{move}/abort")
        router.finish(move, 10)
        seen.add(client.call("DBSIZE"))
        time.sleep(0.5)
        seen.add(client.call("DBSIZE"))
    worst = max(abs(size - 40_000) for size in seen)
    lab.must(worst <= 1000, f"40,000 keys shown as {min(seen)} to {max(seen)}")
    total = sum(node["keys"] for node in router.get("/status")["nodes"])
    lab.must(total <= 41_000, f"status counts {total} keys")


@case(
    "116b",
    "expired keys that the server has not reaped are not copied, and the move ends",
    seconds=40,
)
def expired_keys(lab):
    first, second, router = lab.pair()
    first.call("DEBUG", "SET-ACTIVE-EXPIRE", "0")
    with Redis(first.port, 30) as client:
        for begin in range(0, 20_000, 1000):
            client.pipeline(
                [("SET", f"gone{n}", "x", "PX", 50) for n in range(begin, begin + 1000)]
            )
    first.fill((f"k{n}" for n in range(2000)), "x")
    time.sleep(0.2)
    ended = router.finish(router.order("a", "b"), 30)
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why']}")
    lab.must(
        len(second.keys()) == 2000, f"{len(second.keys())} keys at the destination, 2,000 live"
    )


@case("X5", "copies of an aborted move are cleaned at once")
def aborted_copies(lab):
    first, second, router = lab.pair(limits={"copy_bytes_per_second": 300_000})
    first.fill((f"k{n}" for n in range(8000)), 200)
    move = router.order("a", "b")
    wait_for("copies", lambda: len(second.keys()) > 300, 10)
    copied = len(second.keys())
    router.post(f"/moves/{move}/abort")
    router.finish(move, 10)
    lab.must(copied > 0, "nothing was copied before the abort")
    ends = time.monotonic() + 5
    while second.keys() and time.monotonic() < ends:
        time.sleep(0.1)
    left = len(second.keys())
    lab.must(left == 0, f"5 s after the abort {left} of {copied} copies lie at the destination")


@case(
    "122a",
    "a ring that does not fit the data is told at adoption and refused without --force",
    seconds=45,
)
def ring_that_does_not_fit(lab):
    servers = lab.servers(3)
    names = [f"user:{n}" for n in range(3000)]
    for index, server in enumerate(servers):
        server.fill((n for n in names if zlib.crc32(n.encode()) % 3 == index), "v")
    router = lab.router(servers, ring="{scheme: twemproxy-ketama, hash: md5}", adopt=False)
    code, text = router.command("adopt", "--yes")
    lab.must(code != 0, f"adopt takes them: {text[-200:]!r}")
    lab.must(
        re.search(r"\d+(\.\d+)? ?%", text) and re.search(r"user:\d+", text),
        f"no share and no example: {text[-250:]!r}",
    )
    code, text = router.command("adopt", "--yes", "--force")
    lab.must(code == 0, f"--force: {code} {text[-150:]!r}")
    before = sum(len(s.keys()) for s in servers)
    strays_told(lab, router)
    status, text, _ = router.attempt("POST", "/moves", {"ranges": router.ranges("a"), "to": "b"})
    if status < 300:
        wait_for("quiet", lambda: not router.moves(), 15)
        ended = router.get("/moves")["ended"][0]
        lab.must(
            ended["end"] == "aborted" and re.search(r"user:\d+", ended["why"]),
            f"the move is {ended['end']}: {ended['why'][:200]}",
        )
    after = sum(len(s.keys()) for s in servers)
    lab.must(after == before, f"{before} keys on the servers before, {after} after")


@case("122b", "assess --servers tells it before anything is adopted", seconds=45)
def assessed_before(lab):
    servers = lab.servers(3)
    for index, server in enumerate(servers):
        server.fill(
            (f"user:{n}" for n in range(3000) if zlib.crc32(f"user:{n}".encode()) % 3 == index), "v"
        )
    router = lab.router(servers, start=False)

    def assess(when):
        code, text = run_cleave(
            "assess", "--servers", "--config", router.config, "--seconds", "1", timeout=40
        )
        told = re.search(r"\d %\) are not where", text) and "modulo with hash crc32" in text
        lab.must(code == 0 and told, f"{when}: code {code}, it says {text[-300:]!r}")

    assess("on idle servers")
    task = lab.task(lambda: servers[0].call("GET", "user:1"), 0.01)
    assess("under load")
    task.stop()


@case("O2", "foreign keys: told at adopt, never deleted by a move, told by node remove", seconds=45)
def foreign_keys(lab):
    servers = lab.servers(2)
    for server in servers:
        server.fill((f"other:{n}" for n in range(1000)), "v")
    router = lab.router(servers, adopt=False)
    code, text = router.command("adopt", "--yes")
    lab.must(code != 0 and "other:" in text, f"adopt: {code} {text[-200:]!r}")
    router.command("adopt", "--yes", "--force")
    before = [s.keys() for s in servers]
    status, text, _ = router.attempt("POST", "/moves", {"ranges": router.ranges("a"), "to": "b"})
    if status < 300:
        wait_for("quiet", lambda: not router.moves(), 15)
        text = str(router.get("/moves")["ended"][:1])
    lab.must("other:" in text, f"the move does not name an example: {text[:200]}")
    lab.must([s.keys() for s in servers] == before, "keys were deleted")
    code, text = router.command("strays", "--json", timeout=30)
    lab.must(code == 0 and "other:" in text, f"cleave strays --json: {code} {text[:100]!r}")
    _, last, empty = lab.pair()
    last.call("SET", "other:1", "v")
    code, text = empty.command("node", "remove", "b")
    lab.must(code != 0 and "other:1" in text, f"node remove: {code} {text[-200:]!r}")
    lab.must([n["name"] for n in empty.get("/status")["nodes"]] == ["a", "b"], "b is forgotten")
    lab.must(last.keys() == {b"other:1"}, "the key was deleted")


@case("O2b", "keys in other databases are told at adoption", seconds=30)
def other_databases(lab):
    servers = lab.servers(2)
    with Redis(servers[0].port) as client:
        client.call("SELECT", "3")
        client.call("SET", "there", "1")
    router = lab.router(servers, adopt=False)
    code, text = router.command("adopt", "--yes")
    lab.must(code != 0 and re.search(r"database|db ?3|db3", text), f"adopt: {code} {text[-200:]!r}")
    router.command("adopt", "--yes", "--force")
    router.try_call("FLUSHALL")
    with Redis(servers[0].port) as client:
        client.call("SELECT", "3")
        lab.must(client.call("GET", "there") == b"1", "FLUSHALL emptied database 3")


@case("A1s", "strays go to their owner, or into a file, never over a key", seconds=40)
def strays_are_dealt_with(lab):
    servers = lab.servers(2)
    router = lab.router(servers)
    name = router.keys_of("b", 2)
    servers[0].call("SET", name[0], "stray")
    servers[0].call("SET", name[1], "stray")
    servers[1].call("SET", name[1], "owner's")
    code, text = router.command("strays", "--to-owner", "--yes", timeout=30)
    if code != 0 and "--yes" in text:
        code, text = router.command("strays", "--to-owner", timeout=30)
    lab.must(
        servers[1].call("GET", name[0]) == b"stray", f"not at its owner: {code} {text[-150:]!r}"
    )
    lab.must(servers[1].call("GET", name[1]) == b"owner's", "a key was overwritten")
    lab.must(servers[0].call("EXISTS", name[1]) == 1, "the stray that could not go is gone")
    path = lab.directory() + "/strays"
    dump = servers[0].call("DUMP", name[1])
    code, text = router.command("strays", "--set-aside", path, timeout=30)
    if not lab.must(os.path.exists(path), f"--set-aside: {code} {text[-150:]!r}"):
        return
    with open(path, encoding="ascii") as file:
        aside = [json.loads(line) for line in file]
    wanted = {
        "node": "a",
        "key_hex": name[1].encode().hex(),
        "expires_at_ms": 0,
        "dump_hex": dump.hex(),
    }
    lab.must(aside == [wanted], f"the file holds {aside}, want {wanted}")
    lab.must(servers[0].call("EXISTS", name[1]) == 0, "what was set aside lies there still")
    servers[0].call("RESTORE", name[1], 0, bytes.fromhex(aside[0]["dump_hex"]))
    lab.must(servers[0].call("GET", name[1]) == b"stray", "what the file holds is another value")


@case("A1m", "the balancer does not try a destination with foreign keys for ever", seconds=60)
def foreign_keys_are_not_tried_for_ever(lab):
    first, second = lab.servers(2)
    router = lab.router(
        [first, second], mode="observe", balance=", constants: {hot_capacity_ppm: 5000}"
    )
    router.gather("b", "a")
    second.fill((f"k{n}" for n in range(2000)), "v")
    first.fill((f"other:{n}" for n in range(3000)), "v")
    router.post("/mode", {"mode": "auto"})
    router.kill(15)
    router.start()
    router.leading()
    pages = [[("GET", f"k{at + next}") for next in range(50)] for at in range(0, 200, 50)]

    def ask():
        with router.client() as client:
            for page in pages * 25:
                client.pipeline(page)
                time.sleep(0.01)

    lab.task(ask)

    def stopped():
        return [m for m in router.get("/moves")["ended"] if m["end"] == "aborted"]

    wait_for("a move that is stopped", stopped, 30)
    time.sleep(15)
    lab.must(len(stopped()) <= 3, f"{len(stopped())} moves were stopped in 15 s")
    code, text = router.command("status")
    lab.must(
        "that no move put there" in " ".join(text.split()), f"status does not say why: {text!r}"
    )


@case("X12b", "one slow command is not taken for a clock that is wrong", seconds=40)
def slow_command_is_no_clock(lab):
    first, second = lab.servers(2)
    router = lab.router([first, second])
    router.call("SET", "k", "v")
    refused = []
    for _ in range(5):
        source = "a" if router.ranges("a") else "b"
        nap = lab.task(lambda: second.attempt("DEBUG", "SLEEP", "0.15"), 5)
        time.sleep(0.01)
        status, text, _ = router.attempt(
            "POST", "/moves", {"ranges": router.ranges(source), "to": "b" if source == "a" else "a"}
        )
        if status < 300:
            wait_for("quiet", lambda: not router.moves(), 15)
            text = router.get("/moves")["ended"][0]["why"]
        nap.ending.set()
        if "clock" in text:
            refused.append(text)
    lab.must(not refused, f"{len(refused)} of 5 moves refused: {refused[:1]}"[:250])


@case("X12d", "a source that restarts empty after the commit is told, not stuck", seconds=45)
def empty_source_in_clean(lab):
    first, second = lab.servers(2)
    relay = lab.relay(first)
    router = lab.router([relay, second])
    router.gather("a", "b")
    first.fill((f"k{n}" for n in range(2000)), "v")
    seen = []

    def hook(connection, args):
        if args[0] == b"UNLINK" and len(args) > 5:
            seen.append(1)
            raise Relay.Drop

    relay.hook = hook
    router.order("a", "b")
    wait_for("the cleaning", lambda: seen, 15)
    first.kill()
    relay.hook = None
    first.start()
    time.sleep(6)
    told = router.status_text() + router.log()
    if router.moves() or router.document().get("leftovers"):
        lab.must("marker" in told, f"nothing tells of the missing marker: {router.moves()}"[:250])
        router.attempt("POST", "/adopt", {})
    try:
        router.settled(10)
    except TimeoutError:
        lab.must(False, "stuck after adopt too")
    lab.must(second.keys() and router.call("GET", "k1") == b"v", "keys are lost")


@case(
    "X12g",
    "a large range under many writes moves: dirty keys are fetched while it is scanned",
    seconds=60,
)
def many_dirty_keys(lab):
    first, second, router = lab.pair(
        limits={"dirty_keys_max": 1000, "copy_bytes_per_second": 300_000}
    )
    first.fill((f"k{n}" for n in range(8000)), 200)
    number = [0]

    def write():
        number[0] += 1
        router.try_call("SET", f"k{number[0] % 8000}", "y" * 200)

    task = lab.task(write, 0.0015)
    ended = router.finish(router.order("a", "b"), 50)
    task.stop()
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why'][:150]}")


@case(
    "A5", "a destination that lost its data after the commit: the source's copy is kept", seconds=45
)
def lost_destination(lab):
    first, second = lab.servers(2)
    relay = lab.relay(first)
    router = lab.router([relay, second])
    router.gather("a", "b")
    first.fill((f"k{n}" for n in range(500)), "v")

    def hook(_connection, args):
        # The sweep before the source's cleaning waits until the destination has died.
        if args[:2] == [b"CLIENT", b"LIST"] and not router.ranges("a"):
            ends = time.monotonic() + 6
            while second.process.poll() is None and time.monotonic() < ends:
                time.sleep(0.02)

    relay.hook = hook
    move = router.order("a", "b")
    wait_for("the commit", lambda: not router.ranges("a"), 15, 0.005)
    second.kill()
    relay.hook = None
    second.start()
    time.sleep(4)
    lab.must(
        len(first.keys()) == 500,
        f"{500 - len(first.keys())} keys were deleted at the source " f"(move {move})",
    )

    def is_kept():
        return any(left["state"] == "kept" for left in router.get("/moves")["leftovers"])

    wait_for("the entry to be kept", is_kept, 20)
    time.sleep(2)  # the screen is looked at once a second
    # What a person reads, not what a program may find.
    code, told = router.command("status")
    lab.must(
        code == 0 and f"keeps its copy of move {move}" in told,
        "cleave status does not tell that the source's copy is kept",
    )
    for way in (f"leftovers --take-back {move}", f"leftovers --clean {move}", "cleave adopt"):
        lab.must(way in told, f"cleave status does not name '{way}'")
    wide = [line for line in told.splitlines() if len(line) > 80]
    lab.must(not wide, f"wider than 80 columns: {wide}")
    lab.must(f"keeps its copy of move {move}" in router.log(), "the log does not tell it")
    lab.must(router.metric("cleave_leftovers") == 1, "the metrics do not count it")
    router.adopt()
    code, told = router.command("leftovers", "--take-back", str(move))
    if not lab.must(code == 0, f"take back: {code} {told[-150:]!r}"):
        return
    wait_for("no leftover", lambda: not router.get("/moves")["leftovers"], 15)
    with router.client() as client:
        values = client.pipeline([("GET", f"k{n}") for n in range(500)])
    back = sum(value == b"v" for value in values)
    lab.must(back == 500, f"{back} of 500 keys are read after the taking back")
    lab.must(not second.keys(), "copies stay at the other server")
    took = router.get("/moves")["ended"][0]["took_ms"]
    lab.must(took < 60_000, f"the record says that it took {took} ms")
