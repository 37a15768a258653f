#include "wire/inline_args.h"

#include <cstdint>

#include "base/check.h"
#include "base/hex.h"

namespace cleave::wire {
namespace {

// isspace of the C locale.
bool is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

char unescaped(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    default: return letter;
  }
}

// Reads one argument after another from a line. Past the end every byte reads as NUL, as in the C
// original, so that looking ahead needs no bounds of its own.
class Cutter {
 public:
  explicit Cutter(std::string_view line) : line_(line) {}

  bool skip_blanks() {  // false: nothing follows
    while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
    return at_ < line_.size();
  }

  // False: a quote is not closed, or something is glued to its end. The first quote of an argument
  // need not be at its start, and its closing quote ends the argument.
  bool read(std::string& argument) {
    while (at_ < line_.size()) {
      const char byte = line_[at_++];
      if (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') return true;
      if (byte == '"') return read_double(argument);
      if (byte == '\'') return read_single(argument);
      argument.push_back(byte);
    }
    return true;
  }

 private:
  char peek(std::size_t ahead) const {
    return at_ + ahead < line_.size() ? line_[at_ + ahead] : '\0';
  }

  bool closed() const { return at_ == line_.size() || is_blank(line_[at_]); }

  bool read_double(std::string& argument) {
    while (at_ < line_.size()) {
      const char byte = line_[at_++];
      if (byte == '"') return closed();
      if (byte != '\\' || at_ == line_.size()) {
        argument.push_back(byte);
      } else if (const auto byte_of_it = hex_byte(peek(1), peek(2)); peek(0) == 'x' && byte_of_it) {
        argument.push_back(*byte_of_it);
        at_ += 3;
        CHECK(at_ <= line_.size());
      } else {
        argument.push_back(unescaped(line_[at_++]));
      }
    }
    return false;
  }

  bool read_single(std::string& argument) {
    while (at_ < line_.size()) {
      const char byte = line_[at_++];
      if (byte == '\'') return closed();
      const bool escaped_quote = byte == '\\' && peek(0) == '\'';
      argument.push_back(escaped_quote ? line_[at_++] : byte);
    }
    return false;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::size_t> cut_inline(std::string_view line, std::vector<std::string>& args) {
  Cutter cutter(line);
  std::size_t count = 0;
  while (cutter.skip_blanks()) {
    if (count == args.size()) args.emplace_back();
    args[count].clear();
    if (!cutter.read(args[count++])) return std::nullopt;
  }
  return count;
}

}  // namespace cleave::wire
