#!/usr/bin/env python3
"""The C interface from Python, by ctypes alone: which server holds a key, exactly as Envoy's maglev
would choose it, for many keys at once.

    quick_start.py [PATH OF libcleave-ring.so.1]
"""

import ctypes
import sys
from collections import Counter

NOWHERE = ctypes.c_size_t(-1).value


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 1020)]


class Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Node(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("weight", ctypes.c_uint32),
                ("rack", ctypes.c_char_p), ("datacenter", ctypes.c_char_p)]


class Ring:
    """A ring; freed with this object."""

    library = None

    @classmethod
    def load(cls, path):
        library = ctypes.CDLL(path)
        library.cleave_ring_create.argtypes = [
            ctypes.c_char_p, ctypes.POINTER(Option), ctypes.c_size_t, ctypes.POINTER(Node),
            ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Error)]
        library.cleave_ring_locate_many.argtypes = [
            ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_size_t),
            ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        library.cleave_ring_to_text.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)]
        library.cleave_ring_free.argtypes = [ctypes.c_void_p]
        library.cleave_ring_free.restype = None
        cls.library = library

    def __init__(self, scheme, nodes, **options):
        self.handle = ctypes.c_void_p()
        self.names = [name for name, _ in nodes]
        c_options = (Option * len(options))(
            *[Option(name.encode(), value.encode()) for name, value in options.items()])
        c_nodes = (Node * len(nodes))(
            *[Node(name.encode(), weight, None, None) for name, weight in nodes])
        error = Error()
        if self.library.cleave_ring_create(
                scheme.encode(), c_options, len(options), c_nodes, len(nodes),
                ctypes.byref(self.handle), ctypes.byref(error)):
            raise ValueError(error.message.decode())

    def __del__(self):
        self.library.cleave_ring_free(self.handle)

    def locate(self, keys):
        """The name of the node of each key (bytes); None where the peer places none."""
        count = len(keys)
        owners = (ctypes.c_size_t * count)()
        status = self.library.cleave_ring_locate_many(
            self.handle, (ctypes.c_char_p * count)(*keys),
            (ctypes.c_size_t * count)(*[len(key) for key in keys]), count, owners)
        if status:
            raise ValueError(f"status {status}")
        return [None if owner == NOWHERE else self.names[owner] for owner in owners]

    def to_text(self):
        """The ring as JSON, for other processes."""
        size = ctypes.c_size_t()
        self.library.cleave_ring_to_text(self.handle, None, 0, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value + 1)
        self.library.cleave_ring_to_text(self.handle, text, len(text), ctypes.byref(size))
        return text.value.decode()


def main():
    Ring.load(sys.argv[1] if len(sys.argv) > 1 else "libcleave-ring.so.1")
    ring = Ring("envoy-maglev", [("10.0.0.1:80", 1), ("10.0.0.2:80", 1), ("10.0.0.3:80", 2)],
                table_size="251")
    print(dict(zip(["/a", "/b", "/c"], ring.locate([b"/a", b"/b", b"/c"]))))
    print(sorted(Counter(ring.locate([b"/page/%d" % i for i in range(10_000)])).items()))
    print(ring.to_text())
    try:
        Ring("envoy-maglev", [("10.0.0.1:80", 1)], table_size="250")
    except ValueError as error:
        print("error:", error)


if __name__ == "__main__":
    main()
