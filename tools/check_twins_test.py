#!/usr/bin/env python3
"""Every kind of twin must be found, and what is none must pass."""

import unittest

import check_twins


def source(*lines):
    return ["namespace cleave::a {", "namespace {", "", *lines, "", "}  // namespace", "",
            "void published() {", "  const int kLocal = 1;", "}", "", "}  // namespace cleave::a"]


class Twins(unittest.TestCase):
    def faults(self, one, other):
        return list(check_twins.twins({"src/a/one.cc": one, "src/a/other.cc": other}))

    def assert_twins(self, one, other, name):
        faults = self.faults(source(one), source(other))
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(f"src/a/other.cc:4: '{name}' is in one.cc too", faults[0])

    def assert_none(self, one, other):
        self.assertEqual(self.faults(source(one), source(other)), [])

    def test_constants(self):
        self.assert_twins("constexpr int kMax = 1;", "constexpr long kMax = 2;", "kMax")
        self.assert_twins("constexpr milliseconds kTick{1};", "constexpr int kTick[] = {", "kTick")
        self.assert_twins("const std::array<Choice<int>, 3> kAll = {", "constexpr int kAll = 1;",
                          "kAll")
        self.assert_none("constexpr int kMax = 1;", "constexpr int kMaxima = 1;")

    def test_types(self):
        self.assert_twins("struct Part {", "class Part final : public Whole {", "Part")
        self.assert_twins("enum class Way : std::uint8_t { kIn };", "struct Way {", "Way")
        self.assert_twins("using Json = nlohmann::json;", "struct Json {", "Json")
        self.assert_none("struct Part {", "struct Parts {")

    def test_aliases_of_the_same_are_none(self):
        self.assert_none("using Json = nlohmann::json;", "using Json = nlohmann::json;")
        self.assert_twins("using Json = nlohmann::json;", "using Json = nlohmann::ordered_json;",
                          "Json")

    def test_functions_are_told_by_their_parameters(self):
        self.assert_twins("int size(const Node& node) {", "long size(const Node& it) {", "size")
        self.assert_twins("int f(int a, std::map<int, int> b) {",
                          "int f(int, std::map<int, int>) {", "f")
        self.assert_none("int size(const Node& node) {", "int size(const Range& range) {")
        self.assert_none("int size(const Node& node) {", "int size(const Node& node, int deep) {")

    def test_parameters_over_several_lines(self):
        one = source("int size(const Node& node,", "         int deep) {")
        other = source("int size(const Node& node, int deep) {")
        self.assertEqual(len(self.faults(one, other)), 1)

    def test_a_function_and_a_constant(self):
        self.assert_twins("int size(int a) {", "constexpr int size = 1;", "size")

    def test_what_is_published_or_within_something_is_none(self):
        published = ["namespace cleave::a {", "struct Part {", "}", "}  // namespace cleave::a"]
        self.assertEqual(self.faults(published, published), [])
        self.assert_none("  int inner = 1;", "  int inner = 1;")


if __name__ == "__main__":
    unittest.main()
