#!/usr/bin/env python3
"""The layer check must fail on bad input: a checker that nothing can fail is none."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layers

LAYERS = "base:\nring: base\nnet: base\nproxy: base ring net\n"
ROOMS = LAYERS + "proxy/answers:\nproxy/clients: answers\nproxy/.: answers clients\n"
CMAKE = """cleave_layer(base)
cleave_layer(ring LIBS json)
cleave_layer(net)
cleave_layer(proxy)
"""


class CheckLayers(unittest.TestCase):
    def run_on(self, files, layers=LAYERS, cmake=CMAKE):
        """(exit code, output) of the check on a tree with these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            texts = {"tools/layers.txt": layers, "CMakeLists.txt": cmake, **files}
            for name, text in texts.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = check_layers.main([str(root)])
            return code, output.getvalue()

    def assert_refused(self, name, line, part, layers=LAYERS):
        code, output = self.run_on({name: "// c\n" + line + "\n"}, layers)
        self.assertEqual(code, 1, output)
        self.assertIn(f"{name}:2:", output)
        self.assertIn(part, output)

    def assert_accepted(self, name, line, layers=LAYERS):
        self.assertEqual(self.run_on({name: line + "\n"}, layers), (0, ""))

    def test_downward_own_and_standard_includes_pass(self):
        self.assert_accepted("src/proxy/a.cc",
                             '#include "ring/view/view.h"\n#include "proxy/b.h"\n#include <vector>')

    def test_upward_include(self):
        self.assert_refused("src/ring/a.h", '#include "proxy/a.h"', "may include only: base")

    def test_sibling_include(self):
        self.assert_refused("src/ring/a.cc", '#include "net/loop.h"', "may include only")

    def test_source_file_include(self):
        self.assert_refused("src/ring/a.cc", '#include "ring/b.cc"', "source file")

    def test_relative_include(self):
        self.assert_refused("src/ring/a.cc", '#include "../base/b.h"', "path from src/")

    def test_simulator_from_the_product(self):
        self.assert_refused("src/proxy/a.cc", '#include "sim/sim_loop.h"', "not a folder")

    def test_system_call_header(self):
        self.assert_refused("src/proxy/a.cc", "#include <sys/socket.h>", "system calls")
        self.assert_accepted("src/net/a.cc", "#include <sys/socket.h>")
        self.assert_accepted("src/proxy/a_test.cc", "#include <sys/socket.h>")

    def test_asio_in_a_header_or_elsewhere(self):
        self.assert_refused("src/net/a.h", "#include <boost/asio.hpp>", "net/loop.h")
        self.assert_refused("src/proxy/a.cc", "#include <boost/asio/post.hpp>", "net/loop.h")
        self.assert_accepted("src/net/a.cc", "#include <boost/asio.hpp>")

    def test_folder_without_layer(self):
        code, output = self.run_on({"src/other/a.h": "\n"})
        self.assertEqual(code, 1)
        self.assertIn("not in tools/layers.txt", output)

    def test_cycle(self):
        code, output = self.run_on({}, layers="base: ring\nring: base\n")
        self.assertEqual(code, 1)
        self.assertIn("not defined above", output)

    def test_rooms(self):
        def refused(name, target, part):
            self.assert_refused(name, f'#include "{target}"', part, ROOMS)

        def accepted(name, target):
            self.assert_accepted(name, f'#include "{target}"', ROOMS)

        accepted("src/proxy/clients/a.h", "proxy/answers/b.h")
        accepted("src/proxy/clients/deep/a.h", "proxy/clients/b.h")
        accepted("src/proxy/a.cc", "proxy/clients/b.h")
        accepted("src/proxy/answers/a_test.cc", "proxy/clients/b.h")
        accepted("src/proxy/answers/a.cc", "ring/b.h")
        refused("src/proxy/answers/a.h", "proxy/clients/b.h", "only these rooms of proxy: none")
        refused("src/proxy/clients/a.h", "proxy/b.h", "only these rooms of proxy: answers")
        refused("src/ring/a.cc", "proxy/answers/b.h", "may include only: base")

    def test_folder_that_is_no_room(self):
        code, output = self.run_on({"src/ring/deep/a.h": "\n"}, layers="ring:\nring/view:\n")
        self.assertEqual(code, 1)
        self.assertIn("its room is not in tools/layers.txt", output)

    def test_rooms_that_know_each_other(self):
        code, output = self.run_on({}, layers="ring:\nring/view: edits\nring/edits: view\n")
        self.assertEqual(code, 1)
        self.assertIn("not defined above", output)

    def test_folder_that_has_outgrown_itself(self):
        files = {f"src/ring/f{i}.h": "\n" for i in range(46)}
        code, output = self.run_on(files)
        self.assertEqual(code, 1)
        self.assertIn("src/ring:1: 46 files; at most 45", output)
        del files["src/ring/f0.h"]
        self.assertEqual(self.run_on(files), (0, ""))

    def test_layer_without_target(self):
        code, output = self.run_on({}, cmake=CMAKE.replace("cleave_layer(net)", ""))
        self.assertEqual(code, 1)
        self.assertIn("no cleave_layer(net", output)


if __name__ == "__main__":
    unittest.main()
