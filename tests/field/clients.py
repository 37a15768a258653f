"""What clients of the Redis port meet: words, halves, passwords and HTTP in the wrong place."""

import re
import subprocess
import time

from lab import CLEAVE, ReplyError, Redis, case, free_port, raw_exchange, replies

# How a log may say that a client was closed because it did not take its replies.
SHED = r"did not read|does not read|shed|stalled"


@case("O3", "MULTI refused: the commands up to EXEC are refused with it, none runs")
def transaction_refused(lab):
    server = lab.server()
    router = lab.router([server])
    with router.client() as client:
        client.call("SET", "x", "0")
        got = replies(client, [("MULTI",), ("SET", "x", 1), ("INCR", "x"), ("EXEC",)])
        value = client.call("GET", "x")
        if got[0] == b"OK":  # transactions are there
            lab.must(value == b"2", f"a transaction of SET and INCR: {got}, x is {value}")
            return
        lab.must(value == b"0", f"MULTI was refused, x became {value}: {[str(g) for g in got]}")
        lab.must(client.call("SET", "y", "1") == b"OK", "the connection is of no use afterwards")


@case("O11", "a line of HTTP closes the connection; nothing of its body runs")
def http_at_the_client_port(lab):
    server = lab.server()
    router = lab.router([server])
    for head in (
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"Host: x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        _, closed = raw_exchange(router.port, head + b"SET pwned yes\r\n", 0.5)
        lab.must(server.call("GET", "pwned") is None, f"after {head[:6]!r} the SET ran")
        lab.must(closed, f"after {head[:6]!r} the connection stays open")
        server.call("DEL", "pwned")


@case("O13", "AUTH without a configured password is an error, as in Redis")
def auth_without_password(lab):
    server = lab.server()
    router = lab.router([server])
    for words in (("AUTH", "x"), ("AUTH", "u", "x"), ("AUTH", "default", "x")):
        got, direct = router.try_call(*words), server.attempt(*words)
        same = isinstance(got, ReplyError) == isinstance(direct, ReplyError)
        lab.must(same, f"{' '.join(words)}: {got}; Redis: {direct}")


@case("X8", "AUTH and HELLO of a user that is not there are refused")
def unknown_user(lab):
    server = lab.server()
    router = lab.router([server])
    for words in (("AUTH", "nouser", "bad"), ("HELLO", "2", "AUTH", "nouser", "bad")):
        got = router.try_call(*words)
        lab.must(
            isinstance(got, ReplyError) and "WRONGPASS" in str(got), f"{' '.join(words)}: {got}"
        )
    locked = lab.router([lab.server()], listener=", password: secret", adopt=False)
    for words in (("AUTH", "nouser", "secret"), ("AUTH", "wrong")):
        got = locked.try_call(*words)
        lab.must(isinstance(got, ReplyError), f"with a password, {' '.join(words)}: {got}")
    lab.must(
        locked.try_call("AUTH", "default", "secret") == b"OK", "AUTH default secret is refused"
    )


@case("X9", "a client that half-closes after its requests gets all replies")
def half_closed(lab):
    servers = lab.servers(2)
    router = lab.router(servers)
    router.call("SET", "k", "v")
    one = Redis.encode("GET", "k")
    wants = (
        (one, b"$1\r\nv\r\n"),
        (one * 50, b"$1\r\nv\r\n" * 50),
        (b"GET k\r\nPING\r\n", b"$1\r\nv\r\n+PONG\r\n"),
        (Redis.encode("MGET", "k", "none"), b"*2\r\n$1\r\nv\r\n$-1\r\n"),
    )
    for request, want in wants:
        missing = sum(
            raw_exchange(router.port, request, 1.0, half_close=True)[0] != want for _ in range(10)
        )
        lab.must(missing == 0, f"{missing} of 10 {request[:20]!r} without all replies")


@case("X12a", "PING and CLIENT LIST mind their arguments as Redis does")
def arguments_of_small_commands(lab):
    server = lab.server()
    router = lab.router([server])
    for words in (("PING", "a", "b"), ("CLIENT", "LIST", "x"), ("ECHO",), ("CLIENT", "NOSUCH")):
        got, direct = router.try_call(*words), server.attempt(*words)
        lab.must(
            isinstance(got, ReplyError) == isinstance(direct, ReplyError),
            f"{' '.join(words)}: {got!r}; Redis: {direct}",
        )


@case("D16a", "before AUTH a client has Redis's small limits")
def limits_before_auth(lab):
    server = lab.server()
    router = lab.router([server], listener=", password: secret")
    for request, what in (
        (b"*11\r\n", "11 arguments"),
        (b"*2\r\n$20000\r\n", "a bulk of 20,000 bytes"),
    ):
        got, closed = raw_exchange(router.port, request, 0.7)
        lab.must(
            got.startswith(b"-") and closed, f"{what} before AUTH: {got[:60]!r}, closed: {closed}"
        )
    long = Redis.encode("AUTH", "secret") + Redis.encode("SET", "k", "x" * 20_000)
    got, _ = raw_exchange(router.port, long, 0.7)
    lab.must(got == b"+OK\r\n+OK\r\n", f"after AUTH: {got[:80]!r}")


@case("X11", "why a client was shed stands in the log and in a metric", seconds=40)
def shed_client(lab):
    server = lab.server()
    router = lab.router([server], limits={"client_stalled_max_ms": 2500})
    server.call("SET", "big", b"x" * 1_000_000)
    with router.client(30) as reader:
        try:
            for _ in range(400):
                reader.socket.sendall(Redis.encode("GET", "big"))
        except OSError:
            pass
        ends = time.monotonic() + 15
        while time.monotonic() < ends and not re.search(SHED, router.log()):
            time.sleep(0.2)
    lab.must(re.search(SHED, router.log()), f"the log says nothing of it: {router.log()[-200:]!r}")
    lab.must(router.metric("cleave_clients_shed_total"), "no metric counts the client")


@case("O9", "bench fails at once where it cannot begin, and knows passwords", seconds=45)
def bench_that_cannot_begin(lab):
    def bench(port, *more, environment=None, stdin=None):
        began = time.monotonic()
        try:
            done = subprocess.run(
                [CLEAVE, "bench", "--port", str(port), "--seconds", "1", *more],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=8,
                check=False,
                env=environment,
            )
            return done.returncode, done.stdout.decode(), time.monotonic() - began
        except subprocess.TimeoutExpired as late:
            return None, (late.stdout or b"").decode(), time.monotonic() - began

    code, text, took = bench(free_port())
    lab.must(
        code not in (0, None) and took < 5, f"a closed port: code {code}, {took:.0f} s, {text!r}"
    )
    router = lab.router([lab.server()], listener=", password: secret")
    code, text, took = bench(router.port)
    lab.must(
        code not in (0, None) and ("AUTH" in text or "password" in text),
        f"a router with a password: code {code}, {took:.0f} s, {text[-100:]!r}",
    )
    path = lab.file("password", "secret\n")
    code, text, _ = bench(router.port, "--password-file", path, "--clients", "2")
    lab.must(code == 0, f"--password-file: code {code}, {text[-150:]!r}")


@case("O32", "bench without --verify does not say that 0 writes were acknowledged")
def bench_without_verify(lab):
    router = lab.router([lab.server()])
    done = subprocess.run(
        [CLEAVE, "bench", "--port", str(router.port), "--seconds", "2", "--clients", "2"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=20,
        check=False,
    )
    text = done.stdout.decode()
    lab.must(done.returncode == 0, f"code {done.returncode}: {text[-150:]}")
    lab.must(
        not any("acknowledged" in line and line.split()[-1] == "0" for line in text.splitlines()),
        f"it says: {[line for line in text.splitlines() if 'acknowledged' in line]}",
    )
