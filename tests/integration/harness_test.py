#!/usr/bin/env python3
"""The harness itself."""

import unittest

import harness


class FreePort(unittest.TestCase):
    def test_none_is_given_twice(self):
        ports = [harness.free_port() for _ in range(2000)]
        self.assertEqual(len(set(ports)), 2000)
        self.assertLess(max(ports), 32_768, "from the range that connections are given")


if __name__ == "__main__":
    unittest.main()
