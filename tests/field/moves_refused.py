"""Moves that a server refuses: what is said of a server aborts the move once, in its own words,
and leaves cuts and keys as they were."""

import os
import re
import shutil
import time

from lab import Redis, ReplyError, case, wait_for


def ordered(lab, router, words, *, cuts, seconds=12.0, source="a", destination="b", order=True):
    """Orders a move that cannot be; looks at its end. `words`: one of them must be told."""
    text = ""
    if order:
        status, text, _ = router.attempt(
            "POST", "/moves", {"ranges": router.ranges(source), "to": destination}
        )
        if status >= 400:
            lab.must(
                any(word in text for word in words), f"refused, but not with the reason: {text}"
            )
    wait_for("quiet", lambda: not router.moves(), seconds, 0.05)
    time.sleep(2.0)
    moves = router.get("/moves")
    ended = moves["ended"]
    aborted = [m for m in ended if m["end"] != "committed"]
    lab.must(
        len(ended) + len(moves["moves"]) <= 2,  # the first one gathered
        f"one order became {len(ended) - 1} moves",
    )
    told = text + " ".join(m["why"] for m in ended)
    lab.must(
        any(word in told for word in words),
        f"nobody says {' or '.join(words)}: {[m['why'][:90] for m in aborted[:2]]}",
    )
    kept_back = router.unsplittable()
    lab.must(
        not kept_back,
        f"{len(kept_back)} keys 'unsplittable', e.g. "
        f"{kept_back[0]['reason'][:80] if kept_back else ''}",
    )
    more = router.get("/status")["cuts"] - cuts
    lab.must(more <= 0, f"{more} cuts more")


def nothing_lost(lab, router, names, servers):
    """Every key is there, once."""
    with router.client(30) as client:
        found = sum(
            client.call("EXISTS", *names[at : at + 500]) for at in range(0, len(names), 500)
        )
    lab.must(found == len(names), f"{len(names) - found} keys are not to be read")
    router.settled(20)
    both = servers[0].keys() & servers[1].keys()
    lab.must(not both, f"{len(both)} keys lie on both servers afterwards")


def scene(lab, count, value=100, limits=None):
    first, second, router = lab.pair(limits=limits)
    names = [f"k{n}" for n in range(count)]
    first.fill(names, value)
    time.sleep(0.3)
    return first, second, router, names, router.get("/status")["cuts"]


SLOWLY = {"copy_bytes_per_second": 2_000_000}


@case(
    "110a",
    "an RDB version that the destination does not read is told before a key is copied",
    seconds=40,
)
def newer_to_older(lab):
    newer, older = lab.server(engine="valkey"), lab.server()
    router = lab.router([newer, older])
    router.gather("a", "b")
    names = [f"k{n}" for n in range(5000)]
    newer.fill(names, "v")
    cuts = router.get("/status")["cuts"]
    ordered(lab, router, ("RDB", "version", "DUMP", "read"), cuts=cuts)
    lab.must(not older.keys(), f"{len(older.keys())} keys at the destination")
    nothing_lost(lab, router, names, (newer, older))


@case("110b", "from the older engine to the newer one a move goes", seconds=40)
def older_to_newer(lab):
    older, newer = lab.server(), lab.server(engine="valkey")
    router = lab.router([older, newer])
    names = router.keys_of("a", 400)
    older.fill(names, "v")
    ended = router.finish(router.order("a", "b"))
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why']}")
    nothing_lost(lab, router, names, (older, newer))


@case("110c", "Redis 7.0 to 6.2 is refused before a key is copied", seconds=40)
def redis_7_to_6(lab):
    newer, older = lab.server(), lab.server(engine="redis62")
    router = lab.router([newer, older])
    router.gather("a", "b")
    names = [f"k{n}" for n in range(3000)]
    newer.fill(names, "v")
    cuts = router.get("/status")["cuts"]
    ordered(lab, router, ("RDB", "version", "DUMP", "read"), cuts=cuts)
    nothing_lost(lab, router, names, (newer, older))


@case(
    "111a",
    "a destination over its maxmemory: one abort, in its words; no cut, no key excluded",
    seconds=45,
)
def destination_full(lab):
    first, second, router, names, cuts = scene(lab, 20_000, 200)
    used = int(second.info("used_memory"))
    second.call("CONFIG", "SET", "maxmemory", str(used + 1_000_000))
    second.call("CONFIG", "SET", "maxmemory-policy", "noeviction")
    ordered(lab, router, ("OOM", "memory", "room", "full"), cuts=cuts, seconds=25)
    second.call("CONFIG", "SET", "maxmemory", "0")
    nothing_lost(lab, router, names, (first, second))


def refused_in_mid_copy(lab, spoil, mend, words, source_too=False):
    """The destination (or the source) begins to refuse 100 ms into the copy."""
    first, second, router, names, cuts = scene(lab, 20_000, 100, SLOWLY)
    target = first if source_too else second
    router.order("a", "b")
    time.sleep(0.1)
    spoil(target)
    ordered(lab, router, words, cuts=cuts, seconds=20, order=False)
    mend(target)
    nothing_lost(lab, router, names, (first, second))


@case("111b", "NOREPLICAS at the destination: one abort, in its words", seconds=45)
def too_few_replicas(lab):
    refused_in_mid_copy(
        lab,
        lambda s: s.call("CONFIG", "SET", "min-replicas-to-write", "1"),
        lambda s: s.call("CONFIG", "SET", "min-replicas-to-write", "0"),
        ("NOREPLICAS", "replicas"),
    )


@case("111c", "MISCONF at the destination: one abort, in its words", seconds=45)
def cannot_persist(lab):
    first, second, router, names, cuts = scene(lab, 20_000, 100, SLOWLY)
    directory = os.path.join(second.directory, "gone")
    os.makedirs(directory)
    second.call("CONFIG", "SET", "dir", directory)
    shutil.rmtree(directory)
    second.call("CONFIG", "SET", "save", "1 1")

    def refuses():
        return "MISCONF" in str(second.attempt("SET", "cleave-field-probe", "x"))

    wait_for("MISCONF", refuses, 15, 0.2)
    ordered(lab, router, ("MISCONF", "snapshot", "persist"), cuts=cuts, seconds=20)
    second.call("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
    second.call("DEL", "cleave-field-probe")
    nothing_lost(lab, router, names, (first, second))


@case("111d", "a destination that becomes a replica: one abort, in its words", seconds=45)
def destination_demoted(lab):
    refused_in_mid_copy(
        lab,
        lambda s: s.call("REPLICAOF", "127.0.0.1", "1"),
        lambda s: s.call("REPLICAOF", "NO", "ONE"),
        ("READONLY", "replica", "not a primary"),
    )


@case("111e", "NOPERM at the destination: one abort, in its words", seconds=45)
def right_taken_away(lab):
    refused_in_mid_copy(
        lab,
        lambda s: s.call("ACL", "SETUSER", "default", "-restore"),
        lambda s: s.call("ACL", "SETUSER", "default", "+restore"),
        ("NOPERM", "restore", "permission"),
    )


@case("111f", "NOPERM at the source: one abort, in its words", seconds=45)
def right_taken_away_at_the_source(lab):
    refused_in_mid_copy(
        lab,
        lambda s: s.call("ACL", "SETUSER", "default", "-dump"),
        lambda s: s.call("ACL", "SETUSER", "default", "+dump"),
        ("NOPERM", "dump", "permission"),
        source_too=True,
    )


@case(
    "X1",
    "after refusals a full node owns what it owned, and new keys go where there is room",
    seconds=45,
)
def ring_after_refusals(lab):
    first, second, router, names, _ = scene(lab, 20_000, 200)
    size = len(str(router.document()))
    used = int(second.info("used_memory"))
    second.call("CONFIG", "SET", "maxmemory", str(used + 600_000))
    router.attempt("POST", "/moves", {"ranges": router.ranges("a"), "to": "b"})
    wait_for("quiet", lambda: not router.moves(), 30, 0.1)
    time.sleep(2)
    grown = len(str(router.document()))
    lab.must(grown < 2 * size + 4000, f"the document grew from {size} to {grown} bytes")
    shares = {n["name"]: n["share_ppm"] for n in router.get("/status")["nodes"]}
    lab.must(shares["b"] < 10_000, f"the full node owns {shares['b'] / 10_000:.1f} % of the ring")
    refused = sum(
        isinstance(router.try_call("SET", f"fresh{n}", "x"), ReplyError) for n in range(100)
    )
    lab.must(refused == 0, f"{refused} of 100 new keys are refused")
    lab.must(
        len(names) == len(first.keys() & set(n.encode() for n in names)), "keys left the source"
    )


def restricted(lab, rights, *, big=False, second_rights=None):
    """Two servers whose user `app` has these rights; a router that logs in as it."""
    servers = lab.servers(2)
    for server, words in zip(servers, (rights, second_rights or rights)):
        server.call("ACL", "SETUSER", "app", "on", ">pw", *words)
    router = lab.router(servers, servers="{user: app, password: pw}", adopt=False)
    for server in servers:
        owner = "a" if server is servers[0] else "b"
        for name in router.keys_of(owner, 5, prefix="app:"):
            server.call("SET", name, "x")
    if big:
        name = router.keys_of("a", 1, prefix="app:big")[0]
        with Redis(servers[0].port, 30) as client:
            for part in range(10):
                client.call(
                    "HSET", name, *[w for n in range(1000) for w in (f"f{part}:{n}", "z" * 1000)]
                )
    return servers, router


def order_all(router):
    """What is said to an order of all of a to b, and its end."""
    status, text, _ = router.attempt("POST", "/moves", {"ranges": router.ranges("a"), "to": "b"})
    if status >= 400:
        return text, None
    wait_for("quiet", lambda: not router.moves(), 15, 0.05)
    ended = router.get("/moves")["ended"]
    return text + " ".join(m["why"] for m in ended), ended


@case("117a", "a user without -@dangerous: what is missing is named, in log and /ready too")
def user_without_dangerous(lab):
    servers = lab.servers(2)
    for server in servers:
        server.call("ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-@dangerous")
    router = lab.router(servers, servers="{user: app, password: pw}", start=False)
    router.start(ready=False)
    time.sleep(4)
    told = router.log()
    lab.must(
        "NOPERM" in told or "info" in told.lower() and "permission" in told,
        f"the log does not say what is missing: {told[-200:]!r}",
    )
    _, ready, _ = router.attempt("GET", "/ready")
    lab.must(
        "NOPERM" in ready or "permission" in ready or "true" in ready, f"/ready: {ready[:150]}"
    )


@case("117b", "a user of some keys: the line that allows the missing pattern is told, and works")
def user_of_some_keys(lab):
    servers = lab.servers(2)
    for server in servers:
        server.call("ACL", "SETUSER", "app", "on", ">pw", "~app:*", "&*", "+@all")
    router = lab.router(servers, servers="{user: app, password: pw}", start=False)
    router.start(ready=False)
    time.sleep(3)
    _, told, _ = router.attempt("GET", "/ready")
    line = re.search(r"ACL SETUSER app (~cleave:\S+?)[;\s\"]", told)
    if not lab.must(line, f"/ready names no line to copy: {told[:300]}"):
        return
    status = router.command("status")[1].replace("\n", " ")
    lab.must(line[0][:-1] in status, "status does not say it")
    for server in servers:
        server.call("ACL", "SETUSER", "app", line[1])
    wait_for("ready", lambda: router.attempt("GET", "/ready")[0] == 200, 10, 0.1)
    router.adopt()


@case("117d", "a user that may not kill connections: the move is refused, with command and user")
def user_without_kill(lab):
    _, router = restricted(lab, ("~*", "&*", "+@all", "-client|kill"))
    router.adopt()
    told, ended = order_all(router)
    lab.must("kill" in told.lower() and "app" in told, f"told: {told[:200]}")
    lab.must(not ended or all(m["end"] != "committed" for m in ended), "it was committed")


@case("117e", "a user that may not UNLINK: refused before the first key, with the command's name")
def user_without_unlink(lab):
    servers, router = restricted(lab, ("~*", "&*", "+@all", "-unlink"))
    router.adopt()
    before = len(servers[1].keys())
    told, _ = order_all(router)
    lab.must("unlink" in told.lower(), f"told: {told[:200]}")
    lab.must(len(servers[1].keys()) == before, "keys were copied all the same")


@case("117f", "a big key whose hidden name the user may not write: the pattern is named")
def user_without_the_hidden_key(lab):
    _, router = restricted(
        lab, ("~app:*", "~cleave:{owner}", "~cleave:{ring}", "&*", "+@all"), big=True
    )
    status, text, _ = router.attempt("POST", "/adopt", {})
    told = text
    if status < 300:
        more, _ = order_all(router)
        told += more
    lab.must("cleave:{" in told or "cleave:*" in told, f"told: {told[:250]}")
    lab.must(not router.unsplittable(), "a key is called unsplittable for it")
