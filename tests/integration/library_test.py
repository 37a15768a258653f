#!/usr/bin/env python3
"""libcleave-ring as another program meets it: installed, moved, and used from outside the tree."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

EXAMPLES = os.path.join(harness.ROOT, "examples")
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
# Clang is there for the linters; a machine that only tests need not have it.
CXX_COMPILERS = ["g++", *(name for name in ("clang++-19",) if shutil.which(name))]
# What a program may see of the library (cmake/ring_library.map).
PUBLIC = re.compile(r"^((cleave_ring_\w+|cleave::Ring(Builder|Error|Loads|Replicas)?::.*"
                    r"|cleave::ring_abi_version\(\)"
                    r"|(typeinfo|typeinfo name|vtable) for cleave::RingError)@@CLEAVE_RING_\d+"
                    r"|CLEAVE_RING_\d+)$")


def run(*command, **options):
    """The output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=500,
                          stdin=subprocess.DEVNULL, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def expected(name):
    with open(os.path.join(EXAMPLES, name + ".out"), encoding="utf-8") as file:
        return file.read()


class InstalledLibrary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.prefix = os.path.join(cls.folder, "installed")
        staging = os.path.join(cls.folder, "staging")
        run("make", "-C", harness.ROOT, "library", f"PREFIX={staging}")
        # What is installed must not remember where.
        os.rename(staging, cls.prefix)
        cls.include = os.path.join(cls.prefix, "include")
        cls.library = os.path.join(cls.prefix, "lib", "libcleave-ring.so.1")
        cls.environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(cls.prefix, "lib",
                                                                        "pkgconfig"))

    def headers(self):
        return sorted(os.listdir(os.path.join(self.include, "cleave")))

    def test_examples_build_with_cmake_and_print_what_they_should(self):
        source = shutil.copytree(EXAMPLES, os.path.join(self.folder, "examples"))
        build = os.path.join(self.folder, "build")
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_FLAGS={' '.join(WARNINGS)}", f"-DCMAKE_C_FLAGS={' '.join(WARNINGS)}")
        run("cmake", "--build", build)
        programs = [name[:-4] for name in sorted(os.listdir(EXAMPLES))
                    if name.endswith(".out") and name != "quick_start_py.out"]
        self.assertGreaterEqual(len(programs), 3)
        for name in programs:
            with self.subTest(name):
                self.assertEqual(run(os.path.join(build, name)), expected(name))

    def test_builds_with_pkg_config_and_every_compiler(self):
        flags = run("pkg-config", "--cflags", "--libs", "cleave-ring", env=self.environment).split()
        for compiler in CXX_COMPILERS:
            with self.subTest(compiler):
                program = os.path.join(self.folder, "quick_start-" + compiler)
                run(compiler, "-std=c++17", *WARNINGS, os.path.join(EXAMPLES, "quick_start.cc"),
                    "-o", program, *flags, "-Wl,-rpath," + os.path.dirname(self.library))
                self.assertEqual(run(program), expected("quick_start"))

    def test_python_calls_the_c_interface(self):
        self.assertEqual(run(sys.executable, os.path.join(EXAMPLES, "quick_start.py"),
                             self.library), expected("quick_start_py"))

    def test_exports_its_public_names_and_nothing_else(self):
        names = [line.split(maxsplit=2)[-1] if line[0] != " " else line.split(maxsplit=1)[-1]
                 for line in run("nm", "-DC", "--defined-only", self.library).splitlines()]
        self.assertEqual([name for name in names if not PUBLIC.match(name)], [])
        self.assertTrue(any(name.startswith("cleave_ring_locate@@") for name in names))
        self.assertTrue(any(name.startswith("cleave::Ring::locate(") for name in names))

    # The binary interface: a name that goes, or whose parameters change, takes a new
    # CLEAVE_RING_ABI (cmake/ring_library.cmake); a new one takes a line in the list.
    def test_exports_the_names_of_its_version(self):
        listing = run("nm", "-D", "--defined-only", self.library)
        names = sorted({line.split()[-1].split("@")[0] for line in listing.splitlines()})
        with open(os.path.join(harness.ROOT, "src", "ring_library", "testdata", "exports-1.txt"),
                  encoding="utf-8") as file:
            self.assertEqual(names, file.read().split())

    def test_is_named_by_its_own_version(self):
        self.assertIn("Library soname: [libcleave-ring.so.1]", run("readelf", "-d", self.library))

    def test_headers_compile_alone(self):
        for header in self.headers():
            include = f"#include <cleave/{header}>\nextern int compiled;\n"
            for compiler in CXX_COMPILERS:
                for standard in ("c++17", "c++20"):
                    self.compile(include, [compiler, "-x", "c++", "-std=" + standard])
            if header.endswith(".h"):
                for standard in ("c99", "c11"):
                    self.compile(include, ["gcc", "-x", "c", "-std=" + standard])

    def compile(self, text, command):
        with self.subTest(text + " ".join(command)):
            done = subprocess.run([*command, *WARNINGS, "-I", self.include, "-fsyntax-only", "-"],
                                  input=text, capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_headers_show_no_dependency(self):
        for header in self.headers():
            with open(os.path.join(self.include, "cleave", header), encoding="utf-8") as file:
                included = re.findall(r"^\s*#\s*include\s*(.*)$", file.read(), re.M)
            for name in included:
                self.assertRegex(name, r"^<(cleave/\w+\.(h|hpp)|std\w+\.h|[a-z_]+)>$")

    @unittest.skipUnless(shutil.which("doxygen"), "doxygen is not installed")
    def test_every_public_name_is_documented(self):
        with open(os.path.join(harness.ROOT, "docs", "Doxyfile"), encoding="utf-8") as file:
            settings = file.read() + f"\nOUTPUT_DIRECTORY = {self.folder}\n"
        done = subprocess.run(["doxygen", "-"], input=settings, cwd=harness.ROOT, text=True,
                              capture_output=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(os.path.join(self.folder, "api-docs", "classcleave_1_1Ring.html"),
                  encoding="utf-8") as page:
            self.assertIn("with_cut", page.read())


if __name__ == "__main__":
    unittest.main()
