#!/usr/bin/env python3
"""`cleave locate --scheme`: the program places the recorded keys as the recorded peers did."""

import json
import os
import subprocess
import tempfile
import unittest

import harness

DATA = os.path.join(harness.ROOT, "src", "ring", "testdata")


def run(*arguments):
    return subprocess.run([harness.CLEAVE, "locate", *arguments], capture_output=True, text=True,
                          timeout=30, stdin=subprocess.DEVNULL, check=False)


class LocateByScheme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()
        with open(os.path.join(DATA, "keys.json"), encoding="utf-8") as file:
            cls.keys = json.load(file)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        # A line feed ends a key, so the one key that holds one cannot be in a file.
        cls.lines = [i for i, key in enumerate(cls.keys) if "\n" not in key]
        cls.file = os.path.join(cls.folder.name, "keys")
        with open(cls.file, "wb") as file:
            for i in cls.lines:
                file.write(cls.keys[i].encode() + b"\n")

    def check(self, name, configuration, *arguments):
        with open(os.path.join(DATA, "vectors", name), encoding="utf-8") as file:
            recorded = json.load(file)["vectors"][configuration]
        program = run(*arguments, "--keys", self.file, "--json")
        self.assertEqual(program.returncode, 0, program.stderr)
        self.assertEqual(program.stdout.count("\n"), 1)
        owners = json.loads(program.stdout)["owners"]
        want = [None if recorded[i] == "." else int(recorded[i], 36) for i in self.lines]
        self.assertEqual(owners, want)

    def test_twemproxy(self):
        nodes = [f"--node=srv{i + 1}={weight}" for i, weight in enumerate([1, 2, 3, 1, 5])]
        self.check("twemproxy.json", "b/ketama/fnv1a_64", "--scheme", "twemproxy-ketama",
                   "--option", "hash=fnv1a_64", *nodes)
        self.check("twemproxy.json", "a/modula/fnv1a_64/hash_tag={}", "--scheme",
                   "twemproxy-modula", "--option", "hash_tag={}", "--node", "node-a",
                   "--node", "node-b", "--node", "node-c")

    def test_a_port_that_is_the_default_may_be_left_out(self):
        self.check("libmemcached.json", "a/ketama_spy/md5", "--scheme", "libmemcached-spy",
                   "--option", "hash=md5", "--node", "node-a", "--node", "node-b:11211",
                   "--node", "node-c")

    def test_null_where_the_peer_places_nothing(self):
        self.check("pymemcache_rendezvous.json", "a/allow_unicode=False/strkey", "--scheme",
                   "pymemcache", "--option", "allow_unicode=false", "--node", "node-a",
                   "--node", "node-b", "--node", "node-c")

    def test_the_answer_names_the_nodes(self):
        program = run("--scheme", "nginx", "--node", "b=3", "--node", "a", "k", "", "--json")
        told = json.loads(program.stdout)
        self.assertEqual(told["nodes"], ["b", "a"])
        self.assertIsNone(told["owners"][1])

    def test_wrong_use_is_told(self):
        for arguments in (["--scheme", "kettle", "--node", "a", "k"],
                          ["--scheme", "nginx", "k"],
                          ["--scheme", "nginx", "--node", "a=0", "k"],
                          ["--scheme", "nginx", "--node", "a", "--node", "a", "k"],
                          ["--scheme", "nginx", "--node", "a", "--option", "hash=md5", "k"],
                          ["--scheme", "nginx", "--node", "a"],
                          ["--scheme", "nginx", "--node", "a", "--keys", "/nonexistent"]):
            with self.subTest(arguments):
                program = run(*arguments, "--json")
                self.assertEqual(program.returncode, 2)
                self.assertIn("message", json.loads(program.stdout)["error"])


if __name__ == "__main__":
    unittest.main()
