#include "convert/read/nginx_tree.h"

#include <optional>
#include <utility>

#include "convert/pool/notes.h"

namespace cleave::convert {
namespace {

constexpr std::size_t kDepthMax = 64;
constexpr std::string_view kLuaBlock = "_by_lua_block";

bool is_gap(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<std::vector<NginxDirective>> parse() {
    std::vector<NginxDirective> all = block(0);
    if (!error_ && !at_end()) fail_here("a '}' too many");
    if (error_) return std::unexpected(*error_);
    return all;
  }

 private:
  // Directives up to the '}' that ends the block, or to the end of the text.
  std::vector<NginxDirective> block(std::size_t depth) {
    std::vector<NginxDirective> directives;
    if (depth > kDepthMax) fail_here("blocks deeper than " + std::to_string(kDepthMax));
    while (!error_) {
      skip_blanks();
      if (at_end() || peek() == '}') break;
      directives.push_back(directive(depth));
    }
    return directives;
  }

  NginxDirective directive(std::size_t depth) {
    NginxDirective result{.words = {}, .line = line_};
    while (!error_) {
      skip_blanks();
      if (at_end()) {
        fail_here("this directive is not ended by ';'");
      } else if (peek() == ';' || peek() == '{') {
        break;
      } else if (peek() == '}') {
        fail_here("a '}' before the ';'");
      } else {
        result.words.push_back(word());
      }
    }
    if (!error_ && result.words.empty()) fail_here("a directive without a name");
    if (!error_ && take() == '{') {
      if (result.name().ends_with(kLuaBlock)) {
        skip_braces();
      } else {
        result.block = block(depth + 1);
        if (!error_ && at_end()) fail_here("a '}' is missing");
        if (!error_) take();
      }
    }
    return result;
  }

  std::string word() {
    const char first = peek();
    return first == '"' || first == '\'' ? quoted_word(take()) : plain_word();
  }

  std::string quoted_word(char quote) {
    std::string result;
    while (!at_end() && peek() != quote) {
      const char c = take();
      result += c == '\\' ? escaped() : std::string(1, c);
    }
    if (at_end()) {
      fail_here("a quote is not closed");
    } else {
      take();
    }
    return result;
  }

  std::string plain_word() {
    std::string result;
    while (!at_end() && !is_gap(peek()) && peek() != ';') {
      const char c = take();
      // A brace belongs to a word only as in ${name}.
      if (c == '$' && !at_end() && peek() == '{') {
        result += {c, take()};
        while (!at_end() && peek() != '}') result.push_back(take());
        continue;
      }
      if (c == '{') {
        --at_;
        break;
      }
      result += c == '\\' ? escaped() : std::string(1, c);
    }
    return result;
  }

  // What a backslash and the character behind it mean; both stay where nginx gives them no meaning.
  std::string escaped() {
    if (at_end()) return "\\";
    const char c = take();
    switch (c) {
      case '"':
      case '\'':
      case '\\': return {c};
      case 't': return "\t";
      case 'r': return "\r";
      case 'n': return "\n";
      default: return {'\\', c};
    }
  }

  void skip_blanks() {
    while (!at_end() && (is_gap(peek()) || peek() == '#')) {
      if (take() == '#') skip_line();
    }
  }

  void skip_line() {
    while (!at_end() && peek() != '\n') take();
  }

  void skip_braces() {
    for (std::size_t open = 1; open > 0;) {
      if (at_end()) return fail_here("a '}' is missing");
      const char c = take();
      if (c == '{') ++open;
      if (c == '}') --open;
    }
  }

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return text_[at_]; }

  char take() {
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }

  void fail_here(const std::string& what) {
    if (!error_) error_ = Error{Code::kInvalid, at_line(file_, line_, what)};
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::optional<Error> error_;
};

}  // namespace

Result<std::vector<NginxDirective>> parse_nginx(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

}  // namespace cleave::convert
