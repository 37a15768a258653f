#!/usr/bin/env python3
"""Every rule of tidy.py must fail on bad input and pass on good: one case a rule."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import tidy

HEADER = "// What this is.\n#pragma once\n"


def function(lines):
    """A function definition of this many lines."""
    return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"


class Tidy(unittest.TestCase):
    def faults(self, files):
        """The output of the check on a folder with these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = tidy.main([folder])
            self.assertEqual(code, 1 if output.getvalue() else 0)
            return output.getvalue()

    def assert_refused(self, name, text, part):
        self.assertIn(part, self.faults({name: text}))

    def assert_accepted(self, name, text):
        self.assertEqual(self.faults({name: text}), "")

    def test_file_length(self):
        self.assert_accepted("src/net/a.cc", "// x\n" * 600)
        self.assert_refused("src/net/a.cc", "// x\n" * 601, "601 lines")

    def test_function_length(self):
        self.assert_accepted("src/net/a.cc", function(70))
        self.assert_refused("src/net/a.cc", function(71), "a.cc:1: function of 71 lines")

    def test_function_length_inside_namespace_and_class(self):
        body = "namespace a {\nclass B {\n" + function(71) + "};\n}\n"
        self.assert_refused("src/net/a.cc", body, "a.cc:3: function of 71 lines")
        self.assert_accepted("src/net/a.cc", "namespace a {\nclass B {\n" +
                             function(40) * 5 + "};\n}\n")

    def test_function_length_ignores_tables_and_strings(self):
        table = "const int kTable[] = {\n" + "  1,\n" * 90 + "};\n"
        self.assert_accepted("src/net/a.cc", table)
        self.assert_accepted("src/net/a.cc", 'const char* a = "{";\n' + function(70) * 2)

    def test_line_length(self):
        self.assert_accepted("src/net/a.cc", "//" + "x" * 98 + "\n")
        self.assert_refused("src/net/a.cc", "//" + "x" * 99 + "\n", "101 characters")

    def test_core_bans_name_the_replacement(self):
        for line, instead in [
                ("auto a = std::chrono::steady_clock::now();", "Instant"),
                ("std::mt19937 a;", "base/rng.h"),
                ("std::uniform_int_distribution<int> a;", "base/rng.h"),
                ("auto a = std::hash<int>{}(1);", "base/hash.h"),
                ("std::unordered_map<int, int> a;", "ordered container"),
                ("double a = 0;", "integers"),
                ("std::mutex a;", "no threads"),
                ("std::cout << 1;", "Result"),
                ("auto a = std::getenv(x);", "parameter"),
        ]:
            with self.subTest(line):
                self.assert_refused("src/ring/a.cc", line + "\n", instead)
                self.assert_accepted("src/net/a.cc", line + "\n")
                self.assert_accepted("src/ring/a.cc", "// " + line + "\n")

    def test_core_tests_may_not_draw_other_random_numbers(self):
        self.assert_refused("src/ring/a_test.cc", "std::mt19937 a;\n", "base/rng.h")
        self.assert_accepted("src/ring/a_test.cc", "double a = 0;\n")

    def test_unordered_that_is_never_iterated(self):
        self.assert_accepted("src/heat/a.cc",
                             "// Never iterated.\nstd::unordered_map<int, int> a;\n")

    def test_bans_of_the_whole_tree(self):
        self.assert_refused("src/net/a.cc", "assert(true);\n", "CHECK")
        self.assert_refused("src/net/a.cc", "throw 1;\n", "Result<T>")

    def test_header_contract(self):
        self.assert_refused("src/net/a.h", "#pragma once\n", "no opening comment")
        self.assert_refused("src/net/a.h", HEADER + "struct Thing {\n};\n", "Thing has no comment")
        bare = HEADER + "enum class E : int {\n};\n"
        self.assert_refused("src/net/a.h", bare, "E has no comment")
        self.assert_accepted("src/net/a.h", HEADER + "// It.\nstruct Thing {\n};\n")
        self.assert_accepted("src/net/a.h", HEADER + "// It.\ntemplate <class T>\nstruct A {\n};\n")
        self.assert_accepted("src/net/a.h", "// Thing: it.\n#pragma once\nclass Thing {\n};\n")
        self.assert_accepted("src/net/a.h", HEADER + "class Later;\n")

    def test_header_comments_of_groups_and_namesakes(self):
        self.assert_accepted("src/net/ring_thing.h", HEADER + "class RingThing {\n};\n")
        self.assert_accepted("src/net/a.h", HEADER + "// All.\nstruct A {};\nstruct B {\n};\n")
        self.assert_accepted("src/net/a.h", HEADER + "\nstruct A { int b; };  // It.\n")
        self.assert_refused("src/net/a.h", HEADER + "\nstruct C { int b; };\n", "C has no comment")
        self.assert_accepted("src/net/a.h", HEADER + "\nenum class Move : int { kLeft, kRight };\n")
        self.assert_refused("src/net/a.h", HEADER + "// All.\nstruct A {};\n\nstruct B {\n};\n",
                            "B has no comment")

    def test_promises(self):
        self.assert_refused("a.txt", "TO" "DO: later\n", "without an issue")
        self.assert_refused("a.txt", "FIX" "ME\n", "without an issue")
        self.assert_accepted("a.txt", "TO" "DO(#12): later\n")

    def test_markdown_title(self):
        self.assert_accepted("a.md", "# One\n```\n# not a title\n```\n")
        self.assert_refused("a.md", "# One\n# Two\n", "2 titles")
        self.assert_refused("a.md", "text\n", "0 titles")

    def test_markdown_links(self):
        good = "# One\n## A part\n[a](b.md) [b](#a-part) [c](b.md#two-b) [d](https://x.example)\n"
        self.assertEqual(self.faults({"a.md": good, "b.md": "# Two `b`\n"}), "")
        self.assert_refused("a.md", "# One\n[a](gone.md)\n", "a.md:2: link to gone.md")
        self.assert_refused("a.md", "# One\n[a](#gone)\n", "no such heading")

    def test_machine_paths(self):
        self.assert_refused("a.md", "# A\n/wo" "rk/main\n", "path of one machine")
        self.assert_refused("a.txt", "cd /ho" "me/me\n", "path of one machine")
        self.assert_accepted("a.txt", "net/wo" "rk/main\n")

    def test_registry_hosts(self):
        self.assert_refused("a.txt", "https://py" "pi.org/simple\n", "registry")

    def test_blanks(self):
        self.assert_refused("a.txt", "text \n", "blanks at the end")
        self.assert_refused("a.txt", "text", "no newline")
        self.assert_refused("a.cc", "\tint a;\n", "a tab")
        self.assert_accepted("Makefile", "a:\n\tb\n")


if __name__ == "__main__":
    unittest.main()
