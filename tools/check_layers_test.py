#!/usr/bin/env python3
"""The layer check must fail on bad input: a checker that nothing can fail is none."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import check_layers

LAYERS = "base:\nring: base\nnet: base\nproxy: base ring net\n"
CMAKE = """cleave_layer(base)
cleave_layer(ring DEPS base LIBS json)
cleave_layer(net DEPS base)
cleave_layer(proxy DEPS base ring net)
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

    def assert_refused(self, name, line, part):
        code, output = self.run_on({name: "// c\n" + line + "\n"})
        self.assertEqual(code, 1, output)
        self.assertIn(f"{name}:2:", output)
        self.assertIn(part, output)

    def assert_accepted(self, name, line):
        self.assertEqual(self.run_on({name: line + "\n"}), (0, ""))

    def test_downward_own_and_standard_includes_pass(self):
        self.assert_accepted("src/proxy/a.cc",
                             '#include "ring/view.h"\n#include "proxy/b.h"\n#include <vector>')

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

    def test_cmake_that_says_something_else(self):
        code, output = self.run_on({}, cmake=CMAKE.replace("DEPS base ring net", "DEPS base ring"))
        self.assertEqual(code, 1)
        self.assertIn("differ: net", output)


if __name__ == "__main__":
    unittest.main()
