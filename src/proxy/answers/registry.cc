#include "proxy/answers/registry.h"

#include <algorithm>
#include <utility>

#include "wire/resp.h"

namespace cleave::proxy {
namespace {

constexpr std::size_t kFieldsWithKeySpecs = 10;  // of an entry of COMMAND, since Redis 7.0

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

void append_words(std::string& out, std::string_view text, std::string_view before = "") {
  const std::vector<std::string_view> words = words_of(text);
  wire::append_array_header(out, words.size());
  for (const std::string_view word : words) {
    wire::append_status(out, std::string(before) + std::string(word));
  }
}

// One key at a fixed position.
void append_key_spec(std::string& out, std::uint32_t position) {
  wire::append_array_header(out, 6);
  wire::append_bulk(out, "flags");
  append_words(out, "RO");
  wire::append_bulk(out, "begin_search");
  wire::append_array_header(out, 4);
  append_pair(out, "type", "index");
  wire::append_bulk(out, "spec");
  wire::append_array_header(out, 2);
  append_pair(out, "index", position);
  wire::append_bulk(out, "find_keys");
  wire::append_array_header(out, 4);
  append_pair(out, "type", "range");
  wire::append_bulk(out, "spec");
  wire::append_array_header(out, 6);
  append_pair(out, "lastkey", 0);
  append_pair(out, "keystep", 1);
  append_pair(out, "limit", 0);
}

// An entry of COMMAND.
void append_entry(std::string& out, const Answer& answer, bool with_key_specs) {
  wire::append_array_header(out, with_key_specs ? kFieldsWithKeySpecs : 7);
  wire::append_bulk(out, answer.name);
  wire::append_integer(out, answer.arity);
  append_words(out, answer.flags);
  for (const std::uint32_t place : {answer.key, answer.key, std::min(answer.key, 1U)}) {
    wire::append_integer(out, place);
  }
  append_words(out, answer.categories, "@");
  if (!with_key_specs) return;
  wire::append_array_header(out, 0);  // tips
  wire::append_array_header(out, answer.key == 0 ? 0 : 1);
  if (answer.key != 0) append_key_spec(out, answer.key);
  wire::append_array_header(out, 0);  // subcommands
}

bool has_command(const wire::Reply& told, std::string_view name) {
  return std::ranges::any_of(told.elements, [&](const wire::Reply& entry) {
    return !entry.elements.empty() && route::same_word(entry.elements[0].text, name);
  });
}

}  // namespace

void append_pair(std::string& out, std::string_view name, std::string_view value) {
  wire::append_bulk(out, name);
  wire::append_bulk(out, value);
}

void append_pair(std::string& out, std::string_view name, std::int64_t value) {
  wire::append_bulk(out, name);
  wire::append_integer(out, value);
}

std::vector<route::OwnCommand> own_commands() {
  std::vector<route::OwnCommand> all;
  for (std::uint32_t i = 0; i < kAnswers.size(); ++i) {
    all.push_back({.name = kAnswers[i]->name, .answer = i});
  }
  return all;
}

bool needs_no_password(std::string_view name) {
  return std::ranges::any_of(kAnswers, [name](const Answer* answer) {
    return answer->needs_no_password && route::same_word(answer->name, name);
  });
}

std::string with_our_entries(std::string raw, const wire::Reply& told) {
  if (told.type != wire::Reply::Type::kArray || told.elements.empty()) return raw;
  const bool with_key_specs = told.elements[0].elements.size() >= kFieldsWithKeySpecs;
  std::size_t added = 0;
  for (const Answer* answer : kAnswers) {
    if (!answer->is_ours() || has_command(told, answer->name)) continue;
    append_entry(raw, *answer, with_key_specs);
    ++added;
  }
  std::string whole;
  wire::append_array_header(whole, told.elements.size() + added);
  return whole.append(raw, raw.find('\n') + 1);
}

void append_docs(std::string& out, const Answer& answer) {
  const std::vector<std::string_view> arguments = words_of(answer.syntax);
  wire::append_bulk(out, answer.name);
  wire::append_array_header(out, arguments.empty() ? 6 : 8);
  append_pair(out, "summary", answer.summary);
  append_pair(out, "since", answer.since);
  append_pair(out, "group", "cleave");
  if (arguments.empty()) return;
  wire::append_bulk(out, "arguments");
  wire::append_array_header(out, arguments.size());
  for (const std::string_view argument : arguments) {
    const bool is_key = argument == "key";
    wire::append_array_header(out, is_key ? 6 : 4);
    append_pair(out, "name", argument);
    append_pair(out, "type", is_key ? "key" : "string");
    if (is_key) append_pair(out, "key_spec_index", 0);
  }
}

std::string usage(const Answer& answer) {
  std::string text(answer.name);
  for (char& letter : text) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - ('a' - 'A'));
  }
  if (!answer.syntax.empty()) text.append(" ").append(answer.syntax);
  return text;
}

std::string answers_table() {
  std::string out = "| command | answer |\n|---|---|\n";
  for (const Answer* answer : kAnswers) {
    out.append("| `");
    for (const char letter : usage(*answer))
      out.append(letter == '|' ? "\\" : "").push_back(letter);
    out.append("` | ").append(answer->summary).append(" |\n");
  }
  return out;
}

}  // namespace cleave::proxy
