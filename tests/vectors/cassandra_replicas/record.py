#!/usr/bin/env python3
"""Records which nodes the real Cassandra and its Python driver choose as replicas, for
src/ring/testdata/vectors/cassandra_network_topology.json.

    record.py JARS > cassandra_network_topology.json

JARS is a folder with org.apache.cassandra:cassandra-all 4.1.5 and what it depends on (`mvn
dependency:copy-dependencies`). Needs a JDK 11 or 17 and PyPI's cassandra-driver 3.30.1."""

import json
import os
import random
import subprocess
import sys
import tempfile

from cassandra.metadata import NetworkTopologyStrategy, SimpleStrategy

FOLDER = os.path.dirname(os.path.abspath(__file__))
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
SEED = 6
CLUSTERS = 120


class Host:
    """What the driver's strategies read of a host."""

    def __init__(self, index, datacenter, rack):
        self.index, self.datacenter, self.rack = index, datacenter, rack


def make_cluster(rng):
    datacenters = [f"dc{i}" for i in range(rng.randint(1, 3))]
    racks = rng.randint(1, 5)
    points = rng.choice([1, 1, 4, 16])
    count = rng.randint(1, 14 if points < 16 else 8)
    nodes = [{"datacenter": rng.choice(datacenters), "rack": f"r{rng.randrange(racks)}",
              "tokens": [rng.randrange(-2**63 + 1, 2**63) for _ in range(points)]}
             for _ in range(count)]
    if rng.random() < 0.2:
        return {"nodes": nodes, "simple": rng.randint(1, 5)}
    wanted = {name: rng.randint(0, 5) for name in datacenters}
    wanted["dc0"] += 1
    if rng.random() < 0.1:
        wanted["dc9"] = 2  # nobody stands there
    return {"nodes": nodes, "topology": wanted}


def text_of(cluster):
    lines = [" ".join(["node", node["datacenter"], node["rack"], *map(str, node["tokens"])])
             for node in cluster["nodes"]]
    if "simple" in cluster:
        return lines + [f"simple {cluster['simple']}"]
    wanted = [f"{name}={count}" for name, count in cluster["topology"].items()]
    return lines + [" ".join(["topology", *wanted])]


def ask_cassandra(jars, clusters):
    with tempfile.TemporaryDirectory() as classes:
        path = os.path.join(jars, "*")
        subprocess.run(["javac", "-cp", path, "-d", classes,
                        os.path.join(FOLDER, "Replicas.java")], check=True)
        lines = "\n".join(line for each in clusters for line in text_of(each)) + "\n"
        answer = subprocess.run(["java", "-cp", f"{classes}:{path}", "Replicas"], input=lines,
                                capture_output=True, text=True, check=True).stdout
    return [["".join(DIGITS[int(index)] for index in word.split(",") if index)
             for word in line.split(" ")] for line in answer.splitlines()]


def ask_driver(cluster):
    """A set for each token: the driver groups them by datacenter and knows no walk's order."""
    hosts = [Host(i, node["datacenter"], node["rack"]) for i, node in enumerate(cluster["nodes"])]
    owners = {token: host for host, node in zip(hosts, cluster["nodes"])
              for token in node["tokens"]}
    ring = sorted(owners)
    if "simple" in cluster:
        strategy = SimpleStrategy({"replication_factor": cluster["simple"]})
    else:
        strategy = NetworkTopologyStrategy(cluster["topology"])
    replicas = strategy.make_token_replica_map(owners, ring)
    return ["".join(sorted(DIGITS[host.index] for host in replicas[token])) for token in ring]


def main():
    rng = random.Random(SEED)
    clusters = [make_cluster(rng) for _ in range(CLUSTERS)]
    for cluster, walk in zip(clusters, ask_cassandra(sys.argv[1], clusters), strict=True):
        cluster["replicas"] = " ".join(walk)
        driver = " ".join(ask_driver(cluster))
        if driver != " ".join("".join(sorted(each)) for each in walk):
            cluster["driver"] = driver
    head = {
        "peer": "Cassandra NetworkTopologyStrategy and SimpleStrategy",
        "version": "org.apache.cassandra:cassandra-all 4.1.5, Java 17; cassandra-driver 3.30.1",
        "how": "tests/vectors/cassandra_replicas/record.py: calculateNaturalReplicas on a "
               "TokenMetadata filled by hand, for each token of the ring, in order",
        "encoding": "replicas: one word a token in ascending order, one character a replica = "
                    "index of the node (0-9a-z), in the order of the walk. driver: what the Python "
                    "driver says, sorted, only where it differs: it may count a node twice that it "
                    "passed over twice",
    }
    print(json.dumps(head, indent=1)[:-2] + ',\n "clusters": [')
    print(",\n".join("  " + json.dumps(cluster) for cluster in clusters))
    print(" ]\n}")


if __name__ == "__main__":
    main()
