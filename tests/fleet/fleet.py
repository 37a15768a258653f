"""A fleet on one machine: routers, redis-servers and a coordinator, as the tests of many routers
need it. Either all on 127.0.0.1 with free ports, or (`apart=True`) in a network namespace of its
own with an address for each process, so that any two can be cut off from each other (network.py).

Whatever is started is ended by its process id; directories are removed."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "integration"))
import harness  # noqa: E402
from harness import AdminError  # noqa: E402

TOKEN = "fleet-test"
JARS = "/usr/share/java/"
ZOOKEEPER_JARS = ("zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple", "netty-all",
                  "netty-handler", "netty-common", "netty-buffer", "netty-transport", "netty-codec",
                  "netty-resolver", "netty-transport-native-unix-common", "metrics-core",
                  "snappy-java", "commons-cli", "commons-io")


class Process:
    """One program with its directory, which may be killed, frozen and started again on its data."""

    def __init__(self, name, address, directory, argv, uid=None):
        self.name = name
        self.address = address
        self.directory = directory
        self.argv = argv
        self.uid = uid
        self.log = os.path.join(directory, "log")
        self.process = None
        self.frozen = False
        os.makedirs(directory, exist_ok=True)

    def start(self):
        who = {} if self.uid is None else {"user": self.uid, "group": self.uid, "extra_groups": []}
        with open(self.log, "ab") as log:
            # A session of its own: Ctrl-C is for the test, which then ends this in order.
            self.process = subprocess.Popen(self.argv, stdout=log, stderr=log, cwd=self.directory,
                                            stdin=subprocess.DEVNULL, start_new_session=True, **who)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self):
        self.frozen = False
        if self.alive():
            self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=20)

    def end(self):
        """As an operator would, but not for long."""
        if not self.alive():
            return
        self.thaw()
        self.process.terminate()
        try:
            self.process.wait(timeout=8)
        except subprocess.TimeoutExpired:
            self.kill()

    def log_text(self, size=4000):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                return log.read()[-size:]
        except OSError:
            return ""


class Router(Process):
    """One `cleave serve`, with its HTTP interface."""

    def __init__(self, name, address, directory, argv, uid, port, admin_port):
        super().__init__(name, address, directory, argv, uid)
        self.port = port
        self.admin_port = admin_port

    @property
    def admin(self):
        return f"{self.address}:{self.admin_port}"

    def request(self, method, path, body=None, timeout=2.0):
        return ask(self.admin, method, path, body, timeout)

    def get(self, path, timeout=2.0):
        return self.request("GET", path, None, timeout)

    def post(self, path, body=None, timeout=5.0):
        return self.request("POST", path, {} if body is None else body, timeout)

    def why_not_ready(self, timeout=1.0):
        """None when keys are served, else what the router (or the lack of one) says."""
        try:
            self.get("/ready", timeout)
            return None
        except (AdminError, OSError, http.client.HTTPException) as error:
            return str(error) or type(error).__name__

    def status(self, timeout=1.0):
        """None when it does not tell."""
        try:
            return self.get("/status", timeout)
        except (AdminError, OSError, ValueError, http.client.HTTPException):
            return None

    def client(self, timeout=10.0):
        return Client(self.address, self.port, timeout)


class Client(harness.Redis):
    def __init__(self, address, port, timeout):
        self.socket = socket.create_connection((address, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")


def ask(address, method, path, body=None, timeout=2.0):
    """One request to the HTTP interface at an address; the 307 of a follower of an older version is
    followed to the leader, with the token, which a general client would not do."""
    text = None if body is None else json.dumps(body)
    for _ in range(3):
        connection = http.client.HTTPConnection(address, timeout=timeout)
        try:
            connection.request(method, path, text, {"Authorization": f"Bearer {TOKEN}",
                                                    "Content-Type": "application/json"})
            answer = connection.getresponse()
            data = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if answer.status == 307:
            there = urllib.parse.urlsplit(answer.headers["Location"])
            address, path = there.netloc, there.path + (f"?{there.query}" if there.query else "")
            continue
        if answer.status >= 300:
            raise AdminError(answer.status, data)
        return json.loads(data) if data[:1] in ("{", "[") else data
    raise AdminError(307, "sent from router to router")


class Fleet:
    """Addresses, when apart: routers 127.0.0.11 and on, servers .21, the coordinator .31."""

    def __init__(self, coordinator="etcd", routers=3, servers=4, apart=False, settings=""):
        self.base = tempfile.mkdtemp(prefix="cleave-fleet-")
        os.chmod(self.base, 0o755)
        self.kind = coordinator
        self.apart = apart
        self.settings = settings
        try:
            self.binary = self.readable_binary()
            self.coordinator = self.make_coordinator()
            self.servers = [self.make_server(i) for i in range(servers)]
            self.routers = [self.make_router(i) for i in range(routers)]
        except BaseException:
            shutil.rmtree(self.base, ignore_errors=True)
            raise

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def processes(self):
        return [*self.routers, *self.servers, self.coordinator]

    def close(self, keep=None):
        """Ends all; with `keep`, the logs are left in that directory."""
        for process in self.processes():
            process.thaw()
        for process in self.processes():
            process.end()
        if keep is not None:
            os.makedirs(keep, exist_ok=True)
            for process in self.processes():
                if os.path.exists(process.log):
                    shutil.copy(process.log, os.path.join(keep, f"{process.name}.log"))
        shutil.rmtree(self.base, ignore_errors=True)

    # ---- parts ----------------------------------------------------------------------------------
    def readable_binary(self):
        """Users that own nothing must be able to run it, wherever the working tree lies."""
        if not self.apart:
            return harness.CLEAVE
        copy = os.path.join(self.base, "cleave")
        shutil.copy(harness.CLEAVE, copy)
        os.chmod(copy, 0o755)
        return copy

    def place(self, group, index, name):
        """(address, uid, directory) of a process."""
        directory = os.path.join(self.base, name)
        os.makedirs(directory)
        if not self.apart:
            return "127.0.0.1", None, directory
        number = group * 10 + 1 + index
        os.chown(directory, uid_of(number), uid_of(number))
        return f"127.0.0.{number}", uid_of(number), directory

    def port(self, fixed):
        return fixed if self.apart else harness.free_port()

    def make_coordinator(self):
        address, uid, directory = self.place(3, 0, "coordinator")
        port, peer_port = self.port(2379), self.port(2380)
        if self.kind == "etcd":
            need("etcd", "etcd-server")
            client, peer = f"http://{address}:{port}", f"http://{address}:{peer_port}"
            argv = ["etcd", "--name=one", f"--data-dir={directory}/data",
                    "--heartbeat-interval=20", "--election-timeout=200",
                    f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
                    f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
                    f"--initial-cluster=one={peer}"]
            self.endpoint = client
        else:
            need("java", "default-jre-headless")
            if not os.path.exists(f"{JARS}zookeeper.jar"):
                raise RuntimeError(f"{JARS}zookeeper.jar is not there: install Debian's package "
                                   "zookeeper")
            with open(f"{directory}/zoo.cfg", "w", encoding="ascii") as out:
                out.write(f"tickTime=500\ndataDir={directory}/data\nclientPort={port}\n"
                          f"clientPortAddress={address}\nadmin.enableServer=false\n"
                          "minSessionTimeout=500\n")
            jars = [f"{JARS}{jar}.jar" for jar in ZOOKEEPER_JARS]
            argv = ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                    ":".join(jar for jar in jars if os.path.exists(jar)),
                    "org.apache.zookeeper.server.quorum.QuorumPeerMain", f"{directory}/zoo.cfg"]
            self.endpoint = f"{address}:{port}"
        process = Process("coordinator", address, directory, argv, uid)
        process.port = port
        return process

    def make_server(self, index):
        name = "abcdefgh"[index]
        address, uid, directory = self.place(2, index, f"server-{name}")
        port = self.port(6379)
        # Every write is on disk before it is acknowledged, so a server that is killed has lost
        # nothing; what is lost, cleave lost. Protected mode takes 127.0.0.11 for another machine.
        process = Process(f"server-{name}", address, directory,
                          ["redis-server", "--port", str(port), "--bind", address, "--dir",
                           directory, "--save", "", "--appendonly", "yes", "--appendfsync",
                           "always", "--aof-timestamp-enabled", "yes",
                           "--protected-mode", "no",
                           "--auto-aof-rewrite-percentage", "0"], uid)
        process.node, process.port = name, port
        return process

    def make_router(self, index):
        name = f"router-{index + 1}"
        address, uid, directory = self.place(1, index, name)
        port, admin_port = self.port(6380), self.port(7380)
        nodes = "".join(
            f"      - {{name: {s.node}, members: [{{address: {s.address}:{s.port}}}]}}\n"
            for s in self.servers)
        path = f"{directory}/cleave.yaml"
        with open(path, "w", encoding="ascii") as out:
            out.write(f"listeners: [{{address: {address}:{port}}}]\n"
                      f"admin: {{address: {address}:{admin_port}, token: {TOKEN}}}\n"
                      f"pools:\n  - name: main\n    nodes:\n{nodes}"
                      f"coordination: {{kind: {self.kind}, endpoints: [\"{self.endpoint}\"]}}\n"
                      f"history: {{path: {directory}/history}}\n"
                      f"balance: {{mode: observe}}\n{self.settings}")
        return Router(name, address, directory, [self.binary, "serve", "--config", path], uid, port,
                      admin_port)

    # ---- its life -------------------------------------------------------------------------------
    def start(self):
        self.start_coordinator()
        for server in self.servers:
            server.start()
        for server in self.servers:
            harness.wait_for(server.name, lambda s=server: self.server_answers(s))
        for router in self.routers:
            router.start()
        self.wait_ready()
        self.adopt()

    def start_coordinator(self, seconds=30):
        there = self.coordinator
        there.start()
        harness.wait_for(f"the coordinator, {self.kind}",
                         lambda: reachable(there.address, there.port), seconds)

    @staticmethod
    def server_answers(server):
        try:
            with Client(server.address, server.port, 1.0) as client:
                return client.call("PING") == b"PONG"
        except (OSError, ConnectionError, harness.Redis.ReplyError):
            return False

    def wait_ready(self, seconds=30):
        for router in self.routers:
            try:
                harness.wait_for(router.name, lambda r=router: r.why_not_ready() is None, seconds)
            except TimeoutError as error:
                why = router.why_not_ready()
                raise TimeoutError(f"{error}: {why}\n{router.log_text()}") from None

    def adopt(self):
        """The servers become this pool's. Only the leader can, and only when it has seen them."""
        self.leader(20)
        command = [self.routers[-1].argv[0], "adopt", "--yes", "--admin", self.routers[-1].admin,
                   "--token", TOKEN]

        def adopted():
            said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False,
                                  stdin=subprocess.DEVNULL)
            return said.returncode == 0

        harness.wait_for("cleave adopt", adopted, 20, pause=0.3)
        self.order("POST", "/mode", {"mode": "observe"})

    def find_leader(self):
        """The router that says it leads with the greatest term, or None."""
        leading = [(status["term"], router) for router in self.routers
                   if router.alive() and not router.frozen
                   and (status := router.status(0.5)) and status.get("leader")]
        return max(leading, key=lambda pair: pair[0])[1] if leading else None

    def leader(self, seconds=20):
        return harness.wait_for("a leader", self.find_leader, seconds)

    def order(self, method, path, body=None, seconds=15):
        """Asks router after router until one answers."""
        end = time.monotonic() + seconds
        while True:
            for router in self.routers:
                try:
                    return router.request(method, path, body)
                except (AdminError, OSError, ValueError, http.client.HTTPException) as error:
                    if time.monotonic() > end:
                        raise TimeoutError(f"{method} {path}: {error}") from error
            time.sleep(0.2)

    def settled(self, seconds=30):
        """Seconds until every router is ready and no move is open, or a TimeoutError with why."""
        began = time.monotonic()
        while True:
            trouble = self.unsettled()
            if trouble is None:
                return time.monotonic() - began
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"not settled within {seconds} s: {trouble}")
            time.sleep(0.1)

    def unsettled(self):
        for router in self.routers:
            if not router.alive():
                return f"{router.name} has ended"
            why = router.why_not_ready()
            if why is not None:
                return f"{router.name} is not ready: {why}"
        epochs = set()
        for router in self.routers:
            try:
                moves = router.get("/moves")["moves"]
                ring = router.get("/ring")
            except (AdminError, OSError, ValueError, http.client.HTTPException) as error:
                return f"{router.name} does not tell its moves: {error}"
            epochs.add(ring["epoch"])
            open_moves = [entry["move"] for entry in ring["entries"] if entry["move"] is not None]
            if moves or open_moves:
                return f"{router.name} shows open moves: {moves or open_moves}"
        return None if len(epochs) == 1 else f"the routers are at different epochs: {epochs}"


def uid_of(number):
    """Of the process at 127.0.0.<number>; a range that nobody has."""
    return 61_000 + number


def need(program, package):
    if shutil.which(program) is None:
        raise RuntimeError(f"{program} is not installed: run `make setup`, or install Debian's "
                           f"package {package}")


def reachable(address, port):
    try:
        socket.create_connection((address, port), timeout=0.5).close()
        return True
    except OSError:
        return False
