#include "wire/writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace cleave::wire {
namespace {

TEST(Writer, WritesTheBytesOfTheProtocol) {
  std::string out;
  append_status(out, "OK");
  append_error(out, "ERR no");
  append_integer(out, std::numeric_limits<std::int64_t>::min());
  append_bulk(out, std::string_view("a\r\n\0", 4));
  append_null(out);
  append_array_header(out, 2);
  EXPECT_EQ(
      out,
      std::string("+OK\r\n-ERR no\r\n:-9223372036854775808\r\n$4\r\na\r\n\0\r\n$-1\r\n*2\r\n", 56));
  EXPECT_EQ(command({"GET", ""}), "*2\r\n$3\r\nGET\r\n$0\r\n\r\n");
}

// A line break that a client smuggled into an error text would begin a reply of the client's own.
TEST(Writer, KeepsALineALine) {
  std::string out;
  append_error(out, "ERR unknown command 'a\r\n+OK\n'");
  append_status(out, "a\rb");
  EXPECT_EQ(out, "-ERR unknown command 'a  +OK '\r\n+a b\r\n");
}

}  // namespace
}  // namespace cleave::wire
