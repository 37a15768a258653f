"""A ring that forgot what it had: never a new one in silence before this pool's data."""

import os
import re
import time

from lab import AdminError, ReplyError, case


def with_cuts(lab, servers, count=300, **options):
    """A router whose ring has moved ranges, with that many acknowledged writes."""
    router = lab.router(servers, **options)
    for number in range(6):
        key = f"hot{number}"
        owner = router.owner(key)
        router.finish(
            router.post("/moves", {"key": key, "to": "b" if owner == "a" else "a"})["move"]
        )
    router.settled()
    with router.client() as client:
        client.pipeline([("SET", f"hot{n % 6}", str(n)) for n in range(count)])
    return router


def forget(router):
    """The coordinator loses its ring: the file, not what the router saved of it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        path = os.path.join(router.directory, "ring.db" + ending)
        if os.path.exists(path):
            os.unlink(path)


def ends_or_waits(router, seconds=6.0):
    """Starts it; (ready?, what it says)."""
    router.start(ready=False)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if not router.alive():
            return False, router.log()
        if router.is_ready():
            return True, router.log()
        time.sleep(0.1)
    try:
        _, text, _ = router.attempt("GET", "/ready", timeout=3)
    except (OSError, AdminError):
        text = ""
    return False, router.log() + text


@case(
    "O1",
    "serve from another folder does not seed a fresh ring: not ready, and says the ways on",
    seconds=45,
)
def another_folder(lab):
    servers = lab.servers(2)
    router = with_cuts(lab, servers)
    router.kill(15)
    os.rename(
        os.path.join(router.directory, "ring.db"), os.path.join(router.directory, "elsewhere.db")
    )
    before = len(router.log())
    ready, said = ends_or_waits(router)
    said = said[before:]
    lab.must(not ready, "a fresh ring is seeded in silence, and ready")
    lab.must("marker" in said or "ring" in said and "restore" in said, f"it says: {said[-300:]!r}")
    for way in ("coordinator", "ring restore", "new-ring"):
        lab.must(way in said, f"it does not name the way on '{way}'")
    if router.alive():
        router.kill(15)
    forget(router)
    os.rename(
        os.path.join(router.directory, "elsewhere.db"), os.path.join(router.directory, "ring.db")
    )
    router.start()
    with router.client() as client:
        lost = sum(client.call("GET", f"hot{n}") is None for n in range(6))
    lab.must(lost == 0, f"{lost} of 6 keys are not to be read with the old ring")


@case(
    "O1b", "a relative coordination.path starts at the folder of the configuration file", seconds=45
)
def relative_path(lab):
    servers = lab.servers(2)
    router = lab.router(servers, coordination="{kind: sqlite, path: ring.db}")
    epoch = router.get("/status")["epoch"]
    router.kill(15)
    router.start(ready=False, cwd=lab.directory())
    try:
        router.wait_ready(6)
    except (TimeoutError, RuntimeError):
        lab.must(False, f"not ready from another folder: {router.log()[-200:]!r}")
        return
    now = router.get("/status")["epoch"]
    lab.must(now > epoch, f"another ring: epoch {now}, was {epoch}")


@case(
    "O1c",
    "ring save and ring restore bring a lost ring back, above every server's epoch",
    seconds=60,
)
def saved_and_restored(lab):
    servers = lab.servers(2)
    router = with_cuts(lab, servers)
    path = os.path.join(lab.directory(), "saved.json")
    code, text = router.command("ring", "save", path)
    if not lab.must(code == 0 and os.path.exists(path), f"ring save: {code} {text[-150:]!r}"):
        return
    # What the servers have heard of is later than what was saved: a hot key moved there and back.
    owner = router.owner("hot0")
    for node in ("b" if owner == "a" else "a", owner):
        router.finish(router.post("/moves", {"key": "hot0", "to": node})["move"])
        router.settled()
    wanted = router.document()["epoch"]
    for server in servers:
        note = server.call("GET", "cleave:{ring}").decode()
        server.call("SET", "cleave:{ring}", re.sub(r"(?m)^epoch \d+$", f"epoch {wanted}", note))
    router.kill(15)
    forget(router)
    ready, said = ends_or_waits(router)
    lab.must(not ready, "a fresh ring is seeded in silence")
    code, text = router.command("ring", "restore", path, timeout=30)
    lab.must(code != 0 and str(wanted) in text, f"an older ring is restored: {text[-200:]!r}")
    code, text = router.command("ring", "restore", path, "--force", timeout=30)
    if not lab.must(code == 0, f"ring restore: {code} {text[-200:]!r}"):
        return
    router.wait_ready(15)
    epoch = router.document()["epoch"]
    lab.must(epoch > wanted, f"restored at epoch {epoch}, a server has heard of {wanted}")
    with router.client() as client:
        lost = sum(client.call("GET", f"hot{n}") is None for n in range(6))
    lab.must(lost == 0, f"{lost} of 6 keys are not to be read after the restoring")
    lab.must(said, "it said nothing")


@case("O1d", "adopt --new-ring is a person's word for a new ring", seconds=45)
def new_ring_by_a_person(lab):
    servers = lab.servers(2)
    router = lab.router(servers)
    router.call("SET", "k", "v")
    router.kill(15)
    forget(router)
    ready, _ = ends_or_waits(router, 4)
    lab.must(not ready, "a fresh ring is seeded in silence")
    code, text = router.command("adopt", "--new-ring", "--yes", timeout=20)
    lab.must(code == 0, f"adopt --new-ring: {code} {text[-200:]!r}")
    try:
        router.wait_ready(10)
        value = router.try_call("GET", "k")
        lab.must(not isinstance(value, ReplyError), f"GET: {value}")
    except (TimeoutError, RuntimeError) as error:
        lab.must(False, f"not ready afterwards: {str(error)[-150:]}")
