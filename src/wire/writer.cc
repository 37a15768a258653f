#include "wire/writer.h"

#include <array>
#include <charconv>

#include "base/check.h"

namespace cleave::wire {
namespace {

template <class Number>
void append_number_line(std::string& out, char mark, Number number) {
  std::array<char, 24> line;
  line[0] = mark;
  char* const end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, number).ptr;
  end[0] = '\r';
  end[1] = '\n';
  out.append(line.data(), static_cast<std::size_t>(end + 2 - line.data()));
}

void append_text_line(std::string& out, char mark, std::string_view text) {
  out.push_back(mark);
  for (const char byte : text) out.push_back(byte == '\r' || byte == '\n' ? ' ' : byte);
  out.append("\r\n");
}

}  // namespace

void append_status(std::string& out, std::string_view text) { append_text_line(out, '+', text); }

void append_error(std::string& out, std::string_view text) { append_text_line(out, '-', text); }

void append_integer(std::string& out, std::int64_t value) { append_number_line(out, ':', value); }

void append_bulk(std::string& out, std::string_view bytes) {
  append_number_line(out, '$', bytes.size());
  out.append(bytes);
  out.append("\r\n");
}

void append_null(std::string& out) { out.append("$-1\r\n"); }

void append_array_header(std::string& out, std::size_t elements) {
  append_number_line(out, '*', elements);
}

void append_command(std::string& out, std::span<const std::string_view> args) {
  CHECK(!args.empty());  // a server passes over an empty one and answers nothing
  append_array_header(out, args.size());
  for (const std::string_view arg : args) append_bulk(out, arg);
}

std::string command(std::initializer_list<std::string_view> args) {
  std::string out;
  append_command(out, {args.begin(), args.size()});
  return out;
}

}  // namespace cleave::wire
