"""Shared connections, and servers that say no: what one client or server does must stay its own."""

import re
import socket
import threading
import time

from lab import Redis, ReplyError, case, replies, reply_of, wait_for

SCRIPTS_LATER = "scripts and functions are not yet kept equal on all servers"


def bystanders(lab, router, keys, seconds, offend):
    """INCRs by several clients while `offend()` runs again and again: (errors, acknowledged)."""
    errors, acknowledged = [], [0] * len(keys)
    ends = time.monotonic() + seconds

    def count(number):
        with router.client() as client:
            while time.monotonic() < ends:
                try:
                    client.call("INCR", keys[number])
                    acknowledged[number] += 1
                except ReplyError as refused:
                    errors.append(str(refused))

    threads = [threading.Thread(target=count, args=(n,)) for n in range(len(keys))]
    for thread in threads:
        thread.start()
    while time.monotonic() < ends:
        offend()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    lab.must(not errors, f"{len(errors)} INCRs of others failed, e.g. {errors[:1]}")
    lab.must(sum(acknowledged) > 100, f"only {sum(acknowledged)} INCRs of others in {seconds} s")
    values = [int(router.call("GET", key) or 0) for key in keys]
    lab.must(errors or values == acknowledged, f"INCRs: {values}, acknowledged {acknowledged}")


def oversized(lab, setting, sender):
    """One sender whose requests the server at `a` will not take."""
    first, second = lab.servers(2)
    router = lab.router([first, second])
    keys = router.keys_of("a", 5)
    first.call("CONFIG", "SET", *setting)
    said = []

    def offend():
        try:
            with router.client() as client:
                said.append(str(sender(client, keys[4])))
        except (ReplyError, OSError) as refused:
            said.append(str(refused))

    bystanders(lab, router, keys[:4], 1.5, offend)
    lab.must(not any(word == "b'OK'" for word in said), "the server took what it should refuse")
    kinds = {word[:40] for word in said}
    lab.must(len(kinds) == 1, f"the sender is told {len(kinds)} different things: {sorted(kinds)}")


@case("101a", "a value above proto-max-bulk-len hurts its sender alone")
def value_above_the_servers_limit(lab):
    oversized(
        lab,
        ("proto-max-bulk-len", "1048576"),
        lambda client, key: client.call("SET", key, b"x" * 2_000_000),
    )


@case("101b", "a value above client-query-buffer-limit hurts its sender alone")
def value_above_the_query_buffer(lab):
    oversized(
        lab,
        ("client-query-buffer-limit", "1048576"),
        lambda client, key: client.call("SET", key, b"x" * 2_000_000),
    )


@case("101c", "more arguments than a server takes are refused to their sender alone")
def too_many_arguments(lab):
    first = lab.server()
    router = lab.router([first])
    pairs = [word for n in range(524_289) for word in (f"m{n}", "v")]
    request = Redis.encode("MSET", *pairs)

    def offend():
        try:
            with router.client() as client:
                client.socket.sendall(request)
                client.read()
        except (ReplyError, OSError):
            pass

    bystanders(lab, router, ["n0", "n1", "n2"], 2.5, offend)


@case("102", "a full server's own words are told; nobody gets them as a reply")
def server_is_full(lab):
    first, second = lab.servers(2)
    router = lab.router([first, second])
    mine, other = router.keys_of("a", 1)[0], router.keys_of("b", 1)[0]
    direct = Redis(first.port)  # its one client from now on
    direct.call("CONFIG", "SET", "maxclients", "1")
    direct.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    errors, wrong, ends = set(), [], time.monotonic() + 4
    with router.client() as client:
        while time.monotonic() < ends:
            got = replies(client, [("GET", mine), ("GET", other)])
            errors.add(str(got[0]))
            if got[1] is not None:
                wrong.append(str(got[1]))
            time.sleep(0.05)
    told = router.status_text()
    lab.must(not wrong, f"commands for b: {wrong[:1]}")
    lab.must("max number of clients" in told, "status does not repeat 'max number of clients'")
    lab.must(
        any("max number of clients" in error and "cleave" in error for error in errors),
        f"the error does not name node and cause: {sorted(errors)[:2]}",
    )
    lab.must(
        not any(error.startswith("ERR max number") for error in errors),
        "the server's greeting went to a client as a reply",
    )
    direct.call("CONFIG", "SET", "maxclients", "10000")
    direct.close()
    began = time.monotonic()
    while isinstance(router.try_call("GET", mine), ReplyError) and time.monotonic() < began + 6:
        time.sleep(0.05)
    lab.must(time.monotonic() - began < 2.5, f"served after {time.monotonic() - began:.1f} s")


@case("103a", "a script that does not end is ended by SCRIPT KILL through the router")
def endless_script(lab):
    first, second = lab.servers(2)
    for server in (first, second):
        server.call("CONFIG", "SET", "busy-reply-threshold", "200")
    router = lab.router([first, second])
    mine, other = router.keys_of("a", 1)[0], router.keys_of("b", 1)[0]
    refused = router.try_call("SCRIPT", "KILL")
    if not lab.must_or_say("NOTBUSY" in str(refused), f"SCRIPT KILL: {refused}", SCRIPTS_LATER):
        return
    with router.client() as stuck:
        stuck.socket.sendall(Redis.encode("EVAL", "while true do end", 1, mine))
        time.sleep(0.6)
        began = time.monotonic()
        busy = router.try_call("GET", mine)
        lab.must(
            isinstance(busy, ReplyError) and time.monotonic() - began < 2.6,
            f"GET of the busy node: {busy} after {time.monotonic() - began:.1f} s",
        )
        lab.must(not isinstance(router.try_call("GET", other), ReplyError), "b suffers too")
        killed = router.try_call("SCRIPT", "KILL")
        lab.must(killed == b"OK", f"SCRIPT KILL: {killed}")
    if killed != b"OK":
        first.attempt("SCRIPT", "KILL")
    time.sleep(1.0)
    again = router.try_call("GET", mine)
    lab.must(not isinstance(again, ReplyError), f"1 s after the kill: {again}")


@case("103b", "a move that meets BUSY puts no key down as unmovable", seconds=40)
def busy_in_a_move(lab):
    for busy in (0, 1):
        servers = lab.servers(2)
        for server in servers:
            server.call("CONFIG", "SET", "busy-reply-threshold", "100")
        router = lab.router(servers, limits={"copy_bytes_per_second": 3_000_000})
        router.gather("a", "b")
        servers[0].fill((f"k{n}" for n in range(30_000)), 100)
        cuts = router.get("/status")["cuts"]
        move = router.order("a", "b")
        time.sleep(0.1)
        loop = (
            "local t=redis.call('TIME') local e=t[1]*1000+t[2]/1000+1500 "
            "repeat t=redis.call('TIME') until t[1]*1000+t[2]/1000>e return 1"
        )
        servers[busy].attempt("EVAL", loop, 0)
        router.finish(move, 20)
        time.sleep(0.5)
        where = "the source" if busy == 0 else "the destination"
        held = router.unsplittable()
        lab.must(not held, f"{where} busy: {len(held)} keys 'unsplittable'")
        more = router.get("/status")["cuts"] - cuts
        lab.must(more <= 2, f"{where} busy: {more} cuts more")
        router.close()


@case("104a", "a primary that became a replica: named, shown, nothing moves, good again by itself")
def demoted_primary(lab):
    first, second = lab.servers(2)
    router = lab.router([first, second])
    key = router.keys_of("a", 1)[0]
    first.call("REPLICAOF", "127.0.0.1", "1")
    time.sleep(1.5)
    said = str(router.try_call("SET", key, "x"))
    lab.must("READONLY" in said, f"SET says: {said}")
    node = str(router.node("a"))
    lab.must("replica" in node, f"status of the node says nothing of a replica: {node[:200]}")
    for name, wanted in (
        ('cleave_node_primary{node="a"}', 0),
        ('cleave_node_primary{node="b"}', 1),
        ('cleave_trouble{kind="node-replica"}', 1),
    ):
        told = sample_of(router, name)
        lab.must(told == wanted, f"{name} is {told} while a is a replica")
    router.command("node", "drain", "b")
    time.sleep(6)
    tried = router.get("/moves")["ended"]
    lab.must(not tried, f"{len(tried)} moves were planned to the replica")
    lab.must("is a replica" in router.command("plan")[1], f"plan: {router.command('plan')[1]!r}")
    router.command("node", "undrain", "b")
    for source, destination in (("a", "b"), ("b", "a")):
        status, text, _ = router.attempt(
            "POST", "/moves", {"ranges": router.ranges(source), "to": destination}
        )
        if status < 300:
            ended = router.finish(int(text.split(":")[1].strip(" }\n")), 10)
            lab.must(ended["end"] != "committed", f"a move {source} to {destination} committed")
    first.call("REPLICAOF", "NO", "ONE")
    began = time.monotonic()
    while isinstance(router.try_call("SET", key, "x"), ReplyError) and time.monotonic() < began + 6:
        time.sleep(0.05)
    lab.must(time.monotonic() - began < 2.5, f"good again after {time.monotonic() - began:.1f} s")
    try:
        wait_for("a", lambda: sample_of(router, 'cleave_node_primary{node="a"}') == 1, 5, 0.1)
    except TimeoutError:
        lab.must(False, "the metric does not tell that it is a primary again")


def sample_of(router, name):
    """A metric with its labels; None when there is none."""
    found = re.search(rf"(?m)^{re.escape(name)} (\S+)$", router.get("/metrics"))
    return float(found[1]) if found else None


@case("104b", "a server in cluster mode is refused, and said to be one")
def cluster_mode(lab):
    first = lab.server("--cluster-enabled", "yes")
    first.call("CLUSTER", "ADDSLOTSRANGE", "0", "8000")
    second = lab.server()
    router = lab.router([first, second], start=False)
    router.start(ready=False)
    said = wait_for("its reason", lambda: cluster_said(router), 10)
    lab.must("127.0.0.1:%d" % first.port in said, f"/ready does not name the server: {said[:200]}")
    lab.must("cluster" in router.log(), "the log does not say that a is in cluster mode")
    status, text, _ = router.attempt("POST", "/adopt", {})
    lab.must(status >= 400 and "cluster" in text, f"adopt: {status} {text[:150]}")
    lab.must(not router.listens(), "clients are taken before there is a ring")


def cluster_said(router):
    try:
        _, text, _ = router.attempt("GET", "/ready")
    except OSError:
        return None
    return text if "cluster" in text else None


@case(
    "106a", "scripts by their hash work on every node, also after a move and on a node that joins"
)
def scripts_by_hash(lab):
    first, second = lab.servers(2)
    router = lab.router([first, second])
    script = "return redis.call('INCR', KEYS[1])"
    loaded = router.try_call("SCRIPT", "LOAD", script)
    if not lab.must_or_say(isinstance(loaded, bytes), f"SCRIPT LOAD: {loaded}", SCRIPTS_LATER):
        return
    for node in "ab":
        got = router.try_call("EVALSHA", loaded, 1, router.keys_of(node, 1)[0])
        lab.must(got == 1, f"EVALSHA on {node}: {got}")
    key = router.keys_of("a", 1)[0]
    second.call("SCRIPT", "FLUSH")
    router.order("a", "b")
    router.settled()
    got = router.try_call("EVALSHA", loaded, 1, key)
    lab.must(got == 2, f"EVALSHA after the move: {got}")


@case("106b", "a function that a range's keys need stops the move to a node that lacks it")
def functions(lab):
    first, second, router = lab.pair()
    code = (
        "#!lua name=counters\nredis.register_function('bump', function(keys, args) "
        "return redis.call('INCR', keys[1]) end)"
    )
    first.call("FUNCTION", "LOAD", code)
    before = router.try_call("FCALL", "bump", 1, "k")
    if not lab.must(before == 1, f"FCALL: {before}"):
        return
    status, text, _ = router.attempt("POST", "/moves", {"ranges": router.ranges("a"), "to": "b"})
    if status < 300:
        router.settled()
    after = router.try_call("FCALL", "bump", 1, "k")
    said = f"FCALL after the move: {after} (the order: {status} {text[:80]})"
    lab.must_or_say(after == 2, said, SCRIPTS_LATER)


@case("108", "out of descriptors: the first client and the admin interface go on, it is logged")
def out_of_descriptors(lab):
    server = lab.server()
    router = lab.router([server], limit_files=64, extra="")
    lab.must(
        re.search("descriptor|ulimit|NOFILE", router.log()),
        "a limit below what is configured is not told at the start",
    )
    told = len(router.log())
    with router.client(5) as first:
        first.call("SET", "k", "v")
        idle = []
        for _ in range(200):
            try:
                idle.append(socket.create_connection(("127.0.0.1", router.port), timeout=2))
            except OSError:
                break
        time.sleep(1)
        share = router.processor_share(2)
        lab.must(share < 0.3, f"{share:.0%} of a core while it is full")
        lab.must(first.call("SET", "k", "w") == b"OK", "the first client is not served")
        status, text, _ = router.attempt("GET", "/ready", timeout=4)
        lab.must(status == 200, f"GET /ready while it is full: {status} {text[:80]}")
        status, text, _ = router.attempt("GET", "/metrics", timeout=4)
        lab.must(status == 200, f"GET /metrics while it is full: {status}")
        lab.must("accept" in router.log()[told:], "the log does not say that accepting pauses")
        server.call("CLIENT", "KILL", "TYPE", "normal")
        ends = time.monotonic() + 4
        while time.monotonic() < ends:
            again = reply_after(first, "SET", "k", "x")
            if again == b"OK":
                break
            time.sleep(0.1)
        lab.must(again == b"OK", f"after the server dropped its pipes: {again}")
        for connection in idle:
            connection.close()
        began = time.monotonic()
        while time.monotonic() < began + 4:
            try:
                if router.call("GET", "k", timeout=1) is not None:
                    break
            except (OSError, ReplyError):
                time.sleep(0.05)
        lab.must(
            time.monotonic() - began < 2,
            "accepts again only after " f"{time.monotonic() - began:.1f} s",
        )


def reply_after(client, *command):
    client.socket.sendall(Redis.encode(*command))
    return reply_of(client)


@case("109", "a name that does not resolve is told by name, and served once it does")
def unresolved_name(lab):
    server, late = lab.servers(2)
    name = "cleave-no-such-host.invalid"
    with open("/etc/hosts", encoding="utf-8") as file:
        hosts = lab.file("hosts", file.read())
    router = lab.router([server, f"{name}:{late.port}"], start=False, hosts=hosts)
    router.start(ready=False)
    time.sleep(4)
    lab.must(router.alive(), f"it does not start: {router.log()[-200:]}")
    if not router.alive():
        return
    _, ready, _ = router.attempt("GET", "/ready")
    _, status, _ = router.attempt("GET", "/status")
    for where, text in (("the log", router.log()), ("/ready", ready), ("/status", status)):
        told = name in text and ("resol" in text or "unknown host" in text)
        lab.must(told, f"{where} does not name it: {text[-200:]}")
    with open(hosts, "a", encoding="utf-8") as file:
        file.write(f"127.0.0.1 {name}\n")
    try:
        router.wait_ready(15)
        router.leading()
        router.adopt()
        key = router.keys_of("b", 1)[0]
        router.call("SET", key, "v")
        lab.must(late.call("GET", key) == b"v", "its keys are not served once the name resolves")
    except (TimeoutError, RuntimeError, ReplyError) as error:
        lab.must(False, f"the name resolves, and it does not serve: {str(error)[-200:]}")


@case("X6", "FLUSHALL and DBSIZE work on a server over its maxmemory")
def flush_over_maxmemory(lab):
    first, second = lab.servers(2)
    router = lab.router([first, second])
    with router.client() as client:
        client.pipeline([("SET", f"k{n}", "x") for n in range(500)])
    first.call("CONFIG", "SET", "maxmemory", "1000000")
    size, flushed = router.try_call("DBSIZE"), router.try_call("FLUSHALL")
    lab.must(size == 500, f"DBSIZE: {size}")
    lab.must(flushed == b"OK", f"FLUSHALL: {flushed}")
    left = len(first.keys()) + len(second.keys())
    lab.must(left == 0, f"{left} keys stay")


@case(
    "X7",
    "a connection dropped in silence costs a read nothing and a write one time-out",
    seconds=45,
)
def dropped_in_silence(lab):
    for probers in (False, True):
        server = lab.server()
        beats = set()

        def hook(connection, args, beats=beats):
            if args[0].upper() in (b"PING", b"INFO"):
                beats.add(connection)

        relay = lab.relay(server, hook)
        router = lab.router([relay])
        for first in (("GET", "k"), ("SET", "k", "v")):
            wait_for(
                "served", lambda r=router: not isinstance(r.try_call("GET", "k"), ReplyError), 15
            )
            time.sleep(1.2)
            for connection in list(relay.connections):
                if probers or connection not in beats:
                    connection.silent = True
            began = time.monotonic()
            tries, said = 0, []
            while time.monotonic() < began + 15:
                tries += 1
                got = router.try_call(*first)
                if not isinstance(got, ReplyError):
                    break
                said.append(str(got)[:80])
            took = time.monotonic() - began
            allowed = 0 if first[0] == "GET" else 1
            lab.must(
                len(said) <= allowed and took < 4.5,
                f"{first[0]}: {len(said)} errors, {took:.1f} s: {said[:1]}",
            )
        router.close()
        relay.close()
