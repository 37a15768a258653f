"""Values that are large, restless or unusual must move as they are."""

import os
import random
import threading
import time

from lab import Redis, ReplyError, case, wait_for


def big_hash(port, name, fields, size, prefix="f"):
    """HSETs, pipelined, past the router."""
    with Redis(port, 60) as client:
        for begin in range(0, fields, 1000):
            pairs = [
                w
                for n in range(begin, min(begin + 1000, fields))
                for w in (f"{prefix}{n:07}", "z" * size)
            ]
            client.call("HSET", name, *pairs)


def moved(lab, router, seconds=40):
    """Orders all of a to b; the record of its end."""
    ended = router.finish(router.order("a", "b"), seconds)
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why'][:160]}")
    return ended


@case("112a", "expiry of hash fields travels with small and big hashes (Valkey 9)", seconds=45)
def expiry_of_fields(lab):
    first, second = lab.server(engine="valkey"), lab.server(engine="valkey")
    router = lab.router([first, second])
    router.gather("a", "b")
    names = {"small": 10, "big": 120_000}
    for name, fields in names.items():
        big_hash(first.port, name, fields, 80)
        first.call("HEXPIRE", name, "3600", "FIELDS", "2", "f0000001", "f0000002")
        first.call("HEXPIRE", name, "4", "FIELDS", "1", "f0000003")
    began = time.monotonic()
    moved(lab, router)
    lab.must(not router.ranges("a"), "a range stays at a")
    for name in names:
        left = router.try_call("HTTL", name, "FIELDS", "3", "f0000001", "f0000002", "f0000004")
        lab.must(
            isinstance(left, list) and all(3500 < t <= 3600 for t in left[:2]) and left[2] == -1,
            f"{name}: HTTL {left}, want 3600, 3600, -1",
        )
    time.sleep(max(0.0, 5.0 - (time.monotonic() - began)))
    for name in names:
        gone = router.try_call("HEXISTS", name, "f0000003")
        lab.must(gone == 0, f"{name}: a field is there after its time")


@case(
    "112b",
    "a big hash with field times stays where the destination takes none, with the reason",
    seconds=40,
)
def fields_that_do_not_fit(lab):
    # Of one version: RDB's says nothing against it.
    first = lab.server(engine="valkey")
    second = lab.server("--rename-command", "HPEXPIREAT", "", engine="valkey")
    router = lab.router([first, second])
    router.gather("a", "b")
    big_hash(first.port, "h", 120_000, 80)
    first.call("HEXPIRE", "h", "3600", "FIELDS", "1", "f0000001")
    status, text, _ = router.attempt("POST", "/moves", {"key": "h", "to": "b"})
    if status < 300:
        wait_for("quiet", lambda: not router.moves(), 15)
        time.sleep(0.5)
        text += str(router.get("/moves")["ended"][0]["why"]) + str(router.unsplittable())
    lab.must(
        first.call("HTTL", "h", "FIELDS", "1", "f0000001") != [-1], "the time is lost at the source"
    )
    lab.must(router.owner("h") == "a", f"it moved: {text}")
    told = "expiry times, which the destination does not know" in text
    lab.must(told, f"without the reason: {text[:300]}")
    lab.must(not second.keys() and not second.own_keys(), f"b holds {second.call('KEYS', '*')}")


@case("X2", "replacing a former copy of a huge key never stops the destination", seconds=90)
def rename_over_a_copy(lab):
    first, second, router = lab.pair()
    script = (
        "for i=tonumber(ARGV[1]),tonumber(ARGV[2])-1,500 do local t={} for j=0,499 do "
        "t[#t+1]='f'..(i+j) t[#t+1]='v'..(i+j) end redis.call('HSET',KEYS[1],unpack(t)) end"
    )
    for begin in range(0, 1_200_000, 200_000):
        first.call("EVAL", script, 1, "huge", begin, begin + 200_000, timeout=60)
    first.fill(("o0", "o1", "o2"), "v")
    router.finish(router.post("/moves", {"key": "o0", "to": "b"})["move"])
    slowest = [0.0]

    def probe():
        began = time.monotonic()
        router.try_call("GET", "o0")
        slowest[0] = max(slowest[0], time.monotonic() - began)

    task = lab.task(probe, 0.005)
    move = router.post("/moves", {"key": "huge", "to": "b"})["move"]
    time.sleep(0.6)
    router.call("HSET", "huge", "one-write", "w")
    ended = router.finish(move, 75)
    task.stop()
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why'][:120]}")
    lab.must(slowest[0] < 0.35, f"clients of b waited {slowest[0]:.2f} s")
    slow = [entry for entry in second.call("SLOWLOG", "GET", 10) if entry[2] > 150_000]
    lab.must(not slow, f"slow at b: {[(e[3][0], e[2]) for e in slow][:2]}")
    lab.must(router.call("HGET", "huge", "one-write") == b"w", "the write is lost")


class Restless:
    """Writes elements of one hash all the time, and knows what it must be."""

    def __init__(self, port, name, fields, value):
        self.client = Redis(port, 20)
        self.name = name
        self.fields = fields
        self.random = random.Random(7)
        self.want = {f"f{n:07}".encode(): value.encode() for n in range(fields)}
        self.slowest = 0.0

    def write(self):
        """One batch."""
        commands = []
        for _ in range(20):
            what = self.random.randrange(10)
            field = f"f{self.random.randrange(self.fields):07}".encode()
            if what < 5:
                self.want[field] = b"%d" % self.random.randrange(1 << 30)
                commands.append(("HSET", self.name, field, self.want[field]))
            elif what < 7:
                self.want.pop(field, None)
                commands.append(("HDEL", self.name, field))
            else:
                counter = b"n%d" % self.random.randrange(50)
                self.want[counter] = b"%d" % (int(self.want.get(counter, 0)) + 1)
                commands.append(("HINCRBY", self.name, counter, 1))
        began = time.monotonic()
        self.client.pipeline(commands)
        self.slowest = max(self.slowest, time.monotonic() - began)

    def wrong(self):
        """Fields that are not what was written."""
        flat = self.client.call("HGETALL", self.name)
        have = dict(zip(flat[0::2], flat[1::2]))
        return [f for f in self.want.keys() | have.keys() if self.want.get(f) != have.get(f)]


@case("X3", "a big key that is written all the time moves all the same, and is equal", seconds=90)
def restless_big_key(lab):
    first, second, router = lab.pair()
    big_hash(first.port, "huge", 300_000, 40)
    restless = Restless(router.port, "huge", 300_000, "z" * 40)
    task = lab.task(restless.write, 0.008)
    time.sleep(0.5)
    move = router.order("a", "b")
    progress = []
    while not router.ended(move) and len(progress) < 300:
        for one in router.moves():
            progress.append(one["bytes_copied"])
        time.sleep(0.1)
    ended = router.finish(move, 30)
    task.stop()
    lab.must(ended["end"] == "committed", f"{ended['end']}: {ended['why'][:160]}")
    lab.must(router.owner("huge") == "b", f"it stays behind: {router.unsplittable()}")
    lab.must(ended["fenced_us"] < 250_000, f"held for {ended['fenced_us'] / 1e6:.2f} s")
    lab.must(restless.slowest < 0.5, f"a batch waited {restless.slowest:.2f} s")
    lab.must(len(progress) < 10 or any(progress), "bytes_copied is 0 all the while")
    wrong = restless.wrong()
    lab.must(not wrong, f"{len(wrong)} fields are wrong: {wrong[:3]}")
    router.settled(20)
    lab.must(not second.own_keys() and not first.own_keys(), "a hidden key is left")


@case("X3b", "field times set during the copy of a big key travel too (Valkey 9)", seconds=90)
def restless_field_times(lab):
    first, second = lab.server(engine="valkey"), lab.server(engine="valkey")
    router = lab.router([first, second])
    router.gather("a", "b")
    big_hash(first.port, "huge", 200_000, 60)
    timed = {}
    number = [0]

    def write():
        number[0] += 1
        field = f"f{number[0] * 37 % 200_000:07}"
        if number[0] % 3 == 0:
            router.try_call("HSET", "huge", field, "without a time")
            timed[field] = False
        else:
            router.try_call("HEXPIRE", "huge", 3600, "FIELDS", 1, field)
            timed[field] = True

    task = lab.task(write, 0.002)
    time.sleep(0.3)
    moved(lab, router)
    task.stop()
    lab.must(router.owner("huge") == "b", f"it stays behind: {router.unsplittable()}")
    fields = sorted(timed)
    left = router.call("HTTL", "huge", "FIELDS", len(fields), *fields)
    wrong = [f for f, t in zip(fields, left) if (3500 < t <= 3600) != timed[f]]
    lab.must(not wrong, f"{len(wrong)} of {len(fields)} times are wrong: {wrong[:3]}")
    lab.must(router.call("HLEN", "huge") == 200_000, f"{router.call('HLEN', 'huge')} fields")


def changed_in_mid_copy(lab, title, change, expect, expire=None):
    """A big hash is changed in mid-copy; its last value must arrive, and nothing be left behind."""
    first, second = lab.servers(2)
    begun, going = threading.Event(), threading.Event()
    calls = [0]

    def hook(_connection, args):
        if args[0] == b"HSCAN":
            calls[0] += 1
            if calls[0] == 2:
                begun.set()
                going.wait(5)

    relay = lab.relay(first)
    router = lab.router([relay, second])
    router.gather("a", "b")
    router.call("SET", "n0", "0")
    big_hash(first.port, "big", 12_000, 900)
    if expire:
        first.call("PEXPIRE", "big", expire)
    relay.hook = hook
    move = router.order("a", "b")
    if not lab.must(begun.wait(10), f"{title}: the copy in pieces never began"):
        going.set()
        return
    with router.client() as client:
        change(client)
        going.set()
        ended = router.finish(move, 25)
        got = client.call(*expect[0])
    lab.must(got == expect[1], f"{title}: {expect[0]} is {got!r}, want {expect[1]!r}")
    lab.must(ended["end"] == "committed", f"{title}: {ended['end']}, {ended['why'][:120]}")
    lab.must(not router.unsplittable(), f"{title}: called unsplittable")
    router.settled(15)
    lab.must(not second.own_keys(), f"{title}: left {second.own_keys()}")
    for thing in (router, relay, first, second):
        thing.close()


@case("X4a", "a big key that is replaced in mid-copy is copied as it is then", seconds=60)
def big_key_replaced(lab):
    def another_type(client):
        client.call("DEL", "big")
        client.call("SET", "big", "now")

    def smaller(client):
        client.call("DEL", "big")
        client.call("HSET", "big", "only", "1")

    changed_in_mid_copy(lab, "another type", another_type, (("GET", "big"), b"now"))
    changed_in_mid_copy(lab, "deleted", lambda c: c.call("DEL", "big"), (("EXISTS", "big"), 0))
    changed_in_mid_copy(lab, "small now", smaller, (("HGETALL", "big"), [b"only", b"1"]))


@case("X4b", "a big key whose time runs out, or is taken away, in mid-copy", seconds=60)
def big_key_expires(lab):
    def soon(client):
        client.call("PEXPIRE", "big", 100)
        time.sleep(0.2)

    changed_in_mid_copy(lab, "PEXPIRE", soon, (("EXISTS", "big"), 0))
    changed_in_mid_copy(
        lab, "its own time", lambda c: time.sleep(0.6), (("EXISTS", "big"), 0), expire=500
    )
    changed_in_mid_copy(
        lab, "PERSIST", lambda c: c.call("PERSIST", "big"), (("PTTL", "big"), -1), expire=60_000
    )


def of_large_elements(lab, make, name):
    """Moves a key of large elements; the router's memory and other clients must not feel it."""
    first, second, router = lab.pair()
    first.fill((f"o{n}" for n in range(20)), "v")
    make(first)
    slowest = [0.0]

    def probe():
        began = time.monotonic()
        router.try_call("GET", "o1")
        slowest[0] = max(slowest[0], time.monotonic() - began)

    task = lab.task(probe, 0.005)
    before, most = router.resident(), 0
    move = router.post("/moves", {"key": name, "to": "b"})["move"]
    ends = time.monotonic() + 40
    while not router.ended(move) and time.monotonic() < ends:
        most = max(most, router.resident())
        time.sleep(0.02)
    task.stop()
    lab.must(most - before < 100 << 20, f"the router grew by {(most - before) >> 20} MiB")
    lab.must(slowest[0] < 0.4, f"others waited {slowest[0]:.2f} s")
    return router, router.ended(move)


@case("X10a", "a list of large elements is copied in pieces bounded in bytes", seconds=60)
def large_elements(lab):
    def make(server):
        with Redis(server.port, 60) as client:
            for _ in range(150):
                client.call("RPUSH", "huge", os.urandom(1 << 20))

    router, ended = of_large_elements(lab, make, "huge")
    lab.must(ended and ended["end"] == "committed", f"the move: {ended and ended['why'][:150]}")
    lab.must(router.call("LLEN", "huge") == 150, "elements are missing")


@case(
    "X10b",
    "an element above element_bytes_max stays behind, named; no DUMP stops the source",
    seconds=60,
)
def element_too_large(lab):
    def make(server):
        with Redis(server.port, 60) as client:
            client.call("HSET", "huge", *[w for n in range(4000) for w in (f"f{n}", "x")])
            client.call("HSET", "huge", "zz", os.urandom(150 << 20))

    router, ended = of_large_elements(lab, make, "huge")
    told = str(router.get("/decisions")["decisions"]) + str(ended and ended["why"])
    moved_away = router.owner("huge") == "b"
    lab.must(moved_away or "huge" in told, f"no key is named: {told[:200]}")
    lab.must(moved_away or "limits.element_bytes_max" in told, f"no limit is named: {told[:200]}")


@case("X10c", "a string of 60 MB moves in pieces", seconds=60)
def large_string(lab):
    def make(server):
        with Redis(server.port, 60) as client:
            client.call("SET", "huge", os.urandom(60 << 20))

    router, ended = of_large_elements(lab, make, "huge")
    lab.must(
        ended and ended["end"] == "committed" and router.owner("huge") == "b",
        f"the move: {ended and ended['why'][:150]}",
    )


@case("X12i", "a server that evicts by frequency gives keys away, with their frequency", seconds=30)
def frequency(lab):
    first, second = lab.servers(2, "--maxmemory-policy", "allkeys-lfu", "--maxmemory", "500mb")
    router = lab.router([first, second], kind="cache")
    router.gather("a", "b")
    first.call("SET", "k", "v")
    with Redis(first.port) as client:
        client.call("RESTORE", "k", 0, client.call("DUMP", "k"), "REPLACE", "FREQ", 200)
    moved(lab, router)
    now = second.attempt("OBJECT", "FREQ", "k")
    lab.must(isinstance(now, int) and 190 <= now <= 205, f"its frequency was 200, now {now}")


@case("X12f", "where a server evicts by it, idle time survives a move, in pieces too", seconds=45)
def idle_time(lab):
    evicting = ("--maxmemory-policy", "allkeys-lru", "--maxmemory", "500mb")
    first, second = lab.servers(2, *evicting)
    router = lab.router([first, second], kind="cache", limits={"big_value_bytes": 200_000})
    router.gather("a", "b")
    first.call("SET", "small", "v")
    big_hash(first.port, "big", 3000, 200)
    with Redis(first.port) as client:
        dump = client.call("DUMP", "small")
        client.call("RESTORE", "small", 0, dump, "REPLACE", "IDLETIME", 5000)
        dump = client.call("DUMP", "big")
        client.call("RESTORE", "big", 0, dump, "REPLACE", "IDLETIME", 7000)
    moved(lab, router)
    small, big = (second.attempt("OBJECT", "IDLETIME", name) for name in ("small", "big"))
    lab.must(isinstance(small, int) and abs(small - 5000) < 30, f"small: {small} s, was 5000")
    lab.must_or_say(
        isinstance(big, int) and abs(big - 7000) < 30,
        f"big: idle for {big} s, was 7000",
        "only RESTORE sets it, and of the whole value at once",
    )


@case("X12h", "a stream moves equal in every field, groups and pending entries too", seconds=40)
def stream_in_full(lab):
    first, second, router = lab.pair()
    with router.client() as client:
        for number in range(300):
            client.call("XADD", "s", f"{number + 1}-1", "f", "v" * 50)
        client.call("XGROUP", "CREATE", "s", "g", "0")
        client.call("XREADGROUP", "GROUP", "g", "c1", "COUNT", "50", "STREAMS", "s", ">")
        client.call("XACK", "s", "g", "3-1", "4-1")
        client.call("XDEL", "s", "300-1")
        before = first.call("XINFO", "STREAM", "s", "FULL", "COUNT", "0")
        moved(lab, router)
        after = second.attempt("XINFO", "STREAM", "s", "FULL", "COUNT", "0")

    def compared(told):
        if isinstance(told, ReplyError):
            return str(told)
        fields = dict(zip(told[::2], told[1::2]))
        return {
            name: strip(value)
            for name, value in fields.items()
            if not name.startswith(b"radix-tree")
        }

    def strip(value):
        if not isinstance(value, list):
            return value
        kept, skip = [], False
        for item in value:
            if skip:
                skip = False
            elif item in (b"seen-time", b"active-time"):
                skip = True
            else:
                kept.append(strip(item))
        return kept

    lab.must(
        compared(before) == compared(after),
        f"before {compared(before)}, after {compared(after)}"[:400],
    )
