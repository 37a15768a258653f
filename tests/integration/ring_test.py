#!/usr/bin/env python3
"""`cleave ring show|diff|spread`: what they tell, as JSON, for people and as pictures."""

import json
import math
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import harness

SVG = "{http://www.w3.org/2000/svg}"
CENTRE = (252, 316)
INNER_RING = "172"  # outer radius of the sums of each node
NODES = ["--node", "a", "--node", "b", "--node", "c=2"]


def run(*arguments):
    return subprocess.run([harness.CLEAVE, "ring", *arguments], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL, check=False)


def told(*arguments):
    program = run(*arguments, "--json")
    assert program.returncode == 0, program.stderr
    assert program.stdout.count("\n") == 1
    return json.loads(program.stdout)


def turns_of(path):
    """From where to where a sector of a picture reaches, in turns clockwise from the top."""
    outline = path.get("d").split("L")[0]
    points = re.findall(r"(-?[\d.]+),(-?[\d.]+)", outline)
    radius = re.search(r"A([\d.]+) ", outline).group(1)
    angles = [math.atan2(float(x) - CENTRE[0], CENTRE[1] - float(y)) / math.tau % 1
              for x, y in points]
    start, end = angles[0], angles[-1]
    return radius, (end - start) % 1


def shares_drawn(file):
    """Of each colour, the turns of its sectors: inside (sums) and outside (arcs)."""
    inside, outside, names = {}, {}, {}
    for path in ElementTree.parse(file).getroot().iter(SVG + "path"):
        radius, turns = turns_of(path)
        ring = inside if radius == INNER_RING else outside
        colour = path.get("fill")
        ring[colour] = ring.get(colour, 0) + turns
        title = path.find(SVG + "title")
        if ring is inside and title is not None:
            names[title.text.split(":")[0]] = colour
    return inside, outside, names


class Ring(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        harness.require_binary()
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_show_tells_shares_that_sum_to_all(self):
        answer = told("show", *NODES)
        self.assertEqual([node["name"] for node in answer["nodes"]], ["a", "b", "c"])
        self.assertAlmostEqual(sum(node["share"] for node in answer["nodes"]), 1, places=9)
        self.assertAlmostEqual(answer["nodes"][2]["wanted"], 0.5, places=9)
        self.assertEqual(sum(node["arcs"] for node in answer["nodes"]), answer["arcs"])
        peak = max(node["share"] / node["wanted"] for node in answer["nodes"])
        self.assertAlmostEqual(answer["peak_over_wanted"], peak, places=5)

    def test_show_draws_angles_that_are_the_shares(self):
        for nodes in (NODES, ["--node", "one"]):
            with self.subTest(nodes):
                svg = self.path("show.svg")
                answer = told("show", *nodes, "--svg", svg, "--png", self.path("show.png"))
                inside, outside, names = shares_drawn(svg)
                if len(answer["nodes"]) == 1:
                    continue  # a whole turn has no angle
                for node in answer["nodes"]:
                    colour = names[node["name"]]
                    self.assertAlmostEqual(inside[colour], node["share"], places=4)
                    self.assertAlmostEqual(outside[colour], node["share"], places=3)
                with open(self.path("show.png"), "rb") as file:
                    self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_500_nodes_can_be_drawn(self):
        svg = self.path("many.svg")
        nodes = [f"--node=n{i}" for i in range(500)]
        answer = told("show", *nodes, "--svg", svg)
        texts = " ".join(text.text for text in
                         ElementTree.parse(svg).getroot().iter(SVG + "text"))
        worst = max(answer["nodes"], key=lambda node: node["share"])
        self.assertIn("500 nodes, from the highest to the lowest", texts)
        self.assertIn(f"{worst['name']}: {answer['peak_over_wanted']:.2f}", texts)
        self.assertLess(os.path.getsize(svg), 500_000)

    def test_a_join_moves_the_least_and_only_to_the_joiner(self):
        svg = self.path("diff.svg")
        answer = told("diff", *NODES, "--join", "d", "--svg", svg)
        self.assertEqual(answer["by"], "tokens")
        self.assertAlmostEqual(answer["moved"], answer["least"], places=12)
        self.assertEqual({flow["to"] for flow in answer["flows"]}, {"d"})
        self.assertEqual({arc["to"] for arc in answer["arcs"]}, {"d"})
        width = sum(int(arc["last"], 16) - int(arc["first"], 16) + 1 for arc in answer["arcs"])
        self.assertAlmostEqual(width / 2**64, answer["moved"], places=12)
        inside, outside, names = shares_drawn(svg)
        self.assertAlmostEqual(inside[names["d"]], answer["moved"], places=4)
        self.assertAlmostEqual(outside[names["d"]], answer["moved"], places=3)
        self.assertAlmostEqual(inside[names["stays"]], 1 - answer["moved"], places=4)

    def test_a_diff_of_leaves_weights_and_lists(self):
        shares = {node["name"]: node["share"] for node in told("show", *NODES)["nodes"]}
        leave = told("diff", *NODES, "--leave", "b")
        self.assertAlmostEqual(leave["moved"], shares["b"], places=9)
        self.assertEqual({flow["from"] for flow in leave["flows"]}, {"b"})
        heavier = told("diff", *NODES, "--weight", "a=3")
        self.assertEqual({flow["to"] for flow in heavier["flows"]}, {"a"})
        swapped = told("diff", *NODES, "--to-node", "a", "--to-node", "b", "--to-node", "c=2")
        self.assertEqual(swapped["moved"], 0)

    def test_rings_of_other_tokens_are_compared_by_keys(self):
        modula = told("diff", "--scheme", "twemproxy-modula", "--node", "a", "--node", "b",
                      "--join", "c")
        self.assertEqual((modula["by"], modula["keys"]), ("keys", 100_000))
        self.assertAlmostEqual(modula["moved"], 2 / 3, delta=0.01)
        self.assertAlmostEqual(modula["least"], 1 / 3, delta=0.01)
        other = told("diff", *NODES, "--to-scheme", "envoy-maglev", "--sample", "20000")
        self.assertEqual(other["keys"], 20_000)
        self.assertGreater(other["moved"], other["least"])
        exact = told("diff", *NODES, "--join", "d")
        sampled = told("diff", *NODES, "--join", "d", "--by-keys")
        self.assertAlmostEqual(exact["moved"], sampled["moved"], delta=0.01)

    def test_files_of_pools_are_rings(self):
        config = self.path("nutcracker.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("alpha:\n  listen: 127.0.0.1:22121\n  hash: md5\n  distribution: ketama\n"
                       "  redis: true\n  servers:\n   - 127.0.0.1:7001:1 a\n"
                       "   - 127.0.0.1:7002:3 b\n")
        named = ["--scheme", "twemproxy-ketama", "--option", "hash=md5", "--node", "a",
                 "--node", "b=3"]
        self.assertEqual(told("show", "--config", config)["nodes"], told("show", *named)["nodes"])
        self.assertEqual(told("diff", *named, "--to-config", config)["moved"], 0)
        joined = told("diff", "--config", config, "--join", "c")
        self.assertEqual(joined, told("diff", *named, "--join", "c"))

    def test_spread_counts_the_keys_as_locate_places_them(self):
        keys = self.path("keys")
        with open(keys, "w", encoding="utf-8") as file:
            file.writelines(f"user:{i}\n" for i in range(2_000))
        answer = told("spread", *NODES, "--keys", keys, "--svg", self.path("spread.svg"))
        located = json.loads(subprocess.run(
            [harness.CLEAVE, "locate", "--scheme", "vnode", *NODES, "--keys", keys, "--json"],
            capture_output=True, text=True, timeout=60, check=True).stdout)["owners"]
        self.assertEqual([node["keys"] for node in answer["nodes"]],
                         [located.count(i) for i in range(3)])
        wanted = [500, 500, 1_000]
        self.assertEqual([node["by_weight"] for node in answer["nodes"]], wanted)
        square = sum((located.count(i) - wanted[i])**2 / wanted[i] for i in range(3))
        self.assertAlmostEqual(answer["against_weights"]["chi_square"], square, places=6)

    def test_a_good_hash_spreads_by_the_arcs(self):
        answer = told("spread", *NODES, "--sample", "200000", "--seed", "5")
        self.assertEqual(answer["keys"], 200_000)
        self.assertLess(abs(answer["against_arcs"]["sigma"]), 4)
        self.assertEqual(answer, told("spread", *NODES, "--sample", "200000", "--seed", "5"))

    def test_the_running_pool_is_shown_with_its_cuts(self):
        with harness.Up(nodes=3) as up:
            up.settled()
            admin = f"127.0.0.1:{up.admin_port}"
            shown = told("show", "--admin", admin, "--svg", self.path("pool.svg"))
            status = up.get("/status")
            for mine, theirs in zip(shown["nodes"], status["nodes"], strict=True):
                self.assertEqual(mine["name"], theirs["name"])
                self.assertAlmostEqual(mine["share"] * 1e6, theirs["share_ppm"], delta=1)
            # Cuts even the pool out from the start, which no placement by points is.
            self.assertGreater(status["cuts"], 0)
            self.assertLess(shown["peak_over_wanted"], 1.02)
        self.assertEqual(run("show", "--admin", admin).returncode, 3)

    def test_people_get_tables(self):
        shown = run("show", *NODES).stdout
        self.assertIn("highest share/wanted: ", shown)
        changed = run("diff", *NODES, "--join", "d").stdout
        self.assertIn("change owner; the least possible is", changed)
        spread = run("spread", *NODES, "--sample", "1000").stdout
        self.assertIn("against the weights: chi-square", spread)

    def test_wrong_use_is_told(self):
        for arguments in (["show", "--node", "a=0"],
                          ["show", "--scheme", "nginx"],
                          ["diff", "--join", "a"],
                          ["show", "--node", "a", "--node", "a"],
                          ["show", "--scheme", "kettle", "--node", "a"],
                          ["show", "--node", "a", "--option", "hash=md5"],
                          ["show", "--node", "a", "--svg", "ring.png"],
                          ["show", "--node", "a", "--config", "x.yml"],
                          ["show", "--config", "/nonexistent"],
                          ["diff", "--node", "a"],
                          ["diff", "--node", "a", "--leave", "b"],
                          ["diff", "--node", "a", "--leave", "a"],
                          ["diff", "--node", "a", "--weight", "a"],
                          ["diff", "--node", "a", "--weight", "b=2"],
                          ["diff", "--node", "a", "--join", "a"],
                          ["spread", "--node", "a", "--sample", "0"],
                          ["spread", "--node", "a", "--keys", "/nonexistent"],
                          ["spread", "--node", "a", "--keys", os.devnull],
                          ["spread", "--node", "a", "--keys", "x", "--sample", "5"]):
            with self.subTest(arguments):
                program = run(*arguments)
                self.assertEqual(program.returncode, 2, program.stdout)
                self.assertNotEqual(program.stderr, "")
        unwritable = run("show", "--node", "a", "--svg", "/nonexistent/ring.svg", "--json")
        self.assertEqual(unwritable.returncode, 1)
        self.assertIn("message", json.loads(unwritable.stdout)["error"])


if __name__ == "__main__":
    unittest.main()
