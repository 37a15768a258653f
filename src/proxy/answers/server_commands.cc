#include "proxy/answers/server_commands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "proxy/answers/registry.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using Args = std::span<const std::string_view>;

}  // namespace

Result<std::shared_ptr<const ServerCommands>> ServerCommands::learn(std::string raw,
                                                                    std::string version) {
  const Result<wire::Reply> told = wire::parse_reply(raw);
  if (!told) return fail("COMMAND", told.error());
  raw = with_our_entries(std::move(raw), *told);
  const Result<wire::Reply> reply = wire::parse_reply(raw);
  CHECK(reply.has_value());
  Result<route::CommandTable> table = route::CommandTable::parse(*reply, own_commands());
  if (!table) return fail("COMMAND", table.error());
  std::shared_ptr<ServerCommands> commands(
      new ServerCommands(std::move(raw), std::move(version), std::move(*table)));
  commands->index();
  return commands;
}

// Where each command's own array lies in the reply.
void ServerCommands::index() {
  std::string_view rest = raw_;
  rest.remove_prefix(rest.find('\n') + 1);
  wire::ReplyScanner scanner{Limits{}};
  while (!rest.empty()) {
    const Result<std::size_t> size = scanner.scan(rest);
    CHECK(size && *size > 0);  // `learn` has parsed it
    const std::string_view entry = rest.substr(0, *size);
    rest.remove_prefix(*size);
    const Result<wire::Reply> tree = wire::parse_reply(entry);
    if (tree && !tree->elements.empty()) entries_.emplace(lowered(tree->elements[0].text), entry);
  }
}

void ServerCommands::answer(Args args, std::string& out) const {
  if (args.size() == 1) {
    out.append(raw_);
    return;
  }
  const std::string what = lowered(args[1]);
  if (what == "count") {
    wire::append_integer(out, static_cast<std::int64_t>(entries_.size()));
  } else if (what == "list") {
    wire::append_array_header(out, entries_.size());
    for (const auto& [name, entry] : entries_) wire::append_bulk(out, name);
  } else if (what == "info") {
    answer_info(args.subspan(2), out);
  } else if (what == "docs") {
    answer_docs(args.subspan(2), out);
  } else if (what == "getkeys") {
    answer_keys(args.subspan(2), out);
  } else {
    wire::append_error(out, "ERR unknown subcommand '" + what + "'. Try COMMAND HELP.");
  }
}

void ServerCommands::answer_info(Args names, std::string& out) const {
  if (names.empty()) {
    out.append(raw_);
    return;
  }
  wire::append_array_header(out, names.size());
  for (const std::string_view name : names) {
    const auto found = entries_.find(lowered(name));
    out.append(found == entries_.end() ? std::string_view("*-1\r\n") : found->second);
  }
}

void ServerCommands::answer_docs(Args names, std::string& out) {
  std::vector<const Answer*> ours;
  for (const Answer* answer : kAnswers) {
    const auto asked = [&](auto name) { return route::same_word(name, answer->name); };
    if (!answer->is_ours()) continue;
    if (names.empty() || std::ranges::any_of(names, asked)) ours.push_back(answer);
  }
  wire::append_array_header(out, 2 * ours.size());
  for (const Answer* answer : ours) append_docs(out, *answer);
}

void ServerCommands::answer_keys(Args command, std::string& out) const {
  const route::CommandSpec* const spec = command.empty() ? nullptr : table_.find(command);
  if (spec == nullptr) return wire::append_error(out, "ERR Invalid command specified");
  if (!spec->fits_arity(command.size())) {
    return wire::append_error(out, "ERR Invalid number of arguments specified for command");
  }
  std::vector<std::uint32_t> positions;
  const Result<void> found = route::find_keys(*spec, command, positions);
  if (!found || positions.empty()) {
    return wire::append_error(out, "ERR The command has no key arguments");
  }
  wire::append_array_header(out, positions.size());
  for (const std::uint32_t position : positions) wire::append_bulk(out, command[position]);
}

}  // namespace cleave::proxy
