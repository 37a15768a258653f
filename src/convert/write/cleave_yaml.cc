#include "convert/write/cleave_yaml.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "convert/pool/address.h"
#include "ring/utf8.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kUsualListener = "127.0.0.1:6380";

// Words that some reader of YAML takes for something else than a text.
constexpr std::array<std::string_view, 10> kReserved = {"true", "false", "yes", "no", "on",
                                                        "off",  "null",  "y",   "n",  "nan"};

bool is_reserved(std::string_view text) {
  return std::ranges::find(kReserved, lowered(text)) != kReserved.end();
}

bool is_plain_word(std::string_view text) {
  const char first = text.empty() ? '0' : lowered(text.front());
  return first >= 'a' && first <= 'z' && is_plain_name(text) && !is_reserved(text);
}

// Options of schemes are written as they are meant: numbers and flags plain.
std::string option_value(std::string_view text) {
  const bool is_number = text.size() < 19 && !text.starts_with('0') && !text.empty() &&
                         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return is_number || text == "true" || text == "false" ? std::string(text) : yaml_scalar(text);
}

// A comment takes one line, whatever the text.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return line;
}

std::string comment(const Remark& remark) {
  const std::string place = remark.line == 0 ? "" : "line " + std::to_string(remark.line) + ": ";
  return "#   " + one_line(place + remark.text) + "\n";
}

std::string listener_of(const Pool& pool) {
  return pool.listener.empty() ? std::string(kUsualListener) : pool.listener;
}

// cleave refuses to listen to everybody without a password unless that is meant, as it was here.
bool needs_insecure(const Pool& pool) {
  return pool.client_password.empty() && !is_loopback(listener_of(pool));
}

std::string head(const Imported& imported, std::string_view source) {
  std::string text = "# Written by `cleave import` from " + one_line(source) +
                     ", a configuration of " + std::string(to_string(imported.from)) +
                     ".\n# Keys are placed exactly as there. Observe mode: cleave tells what it "
                     "would move, and moves\n# nothing.\n";
  for (const std::string& why : imported.passed_over)
    text += "# Passed over: " + one_line(why) + "\n";
  for (const Pool& pool : imported.pools) {
    if (pool.remarks.empty()) continue;
    text += "# Pool " + one_line(pool.name) + ":\n";
    for (const Remark& remark : pool.remarks) text += comment(remark);
  }
  if (imported.pools.size() > 1)
    text += "# A router serves one pool: run one with each, from `cleave import --pool NAME`.\n";
  return text;
}

std::string listener_line(const Pool& pool) {
  std::string line = "  - {address: " + yaml_quoted(listener_of(pool)) +
                     ", protocol: redis, pool: " + yaml_scalar(pool.name);
  if (!pool.client_password.empty()) line += ", password: " + yaml_quoted(pool.client_password);
  return line + "}\n";
}

std::string ring_line(const Pool& pool) {
  std::string line = "    ring: {scheme: " + yaml_scalar(pool.scheme.name);
  for (const auto& [name, value] : pool.scheme.options)
    line += ", " + name + ": " + option_value(value);
  return line + "}\n";
}

std::string servers_line(const Pool& pool) {
  if (pool.server_password.empty()) return {};
  std::string line = "    servers: {";
  if (!pool.server_user.empty()) line += "user: " + yaml_quoted(pool.server_user) + ", ";
  return line + "password: " + yaml_quoted(pool.server_password) + "}\n";
}

// `next`: where the node stands if the line does not say.
Result<std::string> node_line(const Pool& pool, const PoolNode& node, std::uint32_t next) {
  if (node.members.empty()) {
    return fail(Code::kInvalid, "pool '" + pool.name + "': the file says no address of '" +
                                    node.name + "'; keys can be located by it, but not served");
  }
  const std::uint32_t position = node.position.value_or(next);
  std::string line = "      - {name: " + yaml_quoted(node.name) +
                     (node.hash_key.empty() ? "" : ", hash_key: " + yaml_quoted(node.hash_key)) +
                     (position == next ? "" : ", position: " + std::to_string(position)) +
                     ", weight: " + std::to_string(node.weight) + ", members: [";
  for (std::size_t i = 0; i < node.members.size(); ++i)
    line += (i == 0 ? "{address: " : ", {address: ") + yaml_quoted(node.members[i]) + "}";
  return line + "]}\n";
}

Result<std::string> pool_text(const Pool& pool) {
  if (const auto sayable = check_sayable(pool); !sayable) return std::unexpected(sayable.error());
  std::string text = "  - name: " + yaml_scalar(pool.name) +
                     "\n    kind: " + (pool.kind == Kind::kStore ? "store" : "cache") + "\n" +
                     ring_line(pool) + servers_line(pool) + "    nodes:\n";
  std::uint32_t next = 0;
  for (const PoolNode& node : pool.nodes) {
    const Result<std::string> line = node_line(pool, node, next);
    if (!line) return line;
    text += *line;
    next = node.position.value_or(next) + 1;
  }
  return text;
}

}  // namespace

Result<std::string> to_cleave_yaml(const Imported& imported, std::string_view source) {
  std::string text = head(imported, source);
  if (std::ranges::any_of(imported.pools, needs_insecure)) {
    text +=
        "# As in the file, anybody who reaches the listener is a client: no password was set.\n"
        "insecure: true\n";
  }
  text += "listeners:\n";
  for (const Pool& pool : imported.pools) text += listener_line(pool);
  text += "admin: {address: \"127.0.0.1:7380\"}\npools:\n";
  for (const Pool& pool : imported.pools) {
    const Result<std::string> one = pool_text(pool);
    if (!one) return one;
    text += *one;
  }
  return text + "coordination: {kind: sqlite, path: cleave.db}\nbalance: {mode: observe}\n";
}

Result<void> check_sayable(const Pool& pool) {
  std::vector<std::pair<std::string, std::string_view>> texts = {
      {"password of clients", pool.client_password},
      {"user of the servers", pool.server_user},
      {"password of the servers", pool.server_password}};
  for (const auto& [name, value] : pool.scheme.options) texts.emplace_back("option " + name, value);
  for (const auto& [what, text] : texts) {
    if (ring::is_utf8(text)) continue;
    return fail(Code::kInvalid, "pool '" + pool.name + "': the " + what +
                                    " is no UTF-8, and YAML can say nothing else");
  }
  return {};
}

std::string yaml_scalar(std::string_view text) {
  return is_plain_word(text) ? std::string(text) : yaml_quoted(text);
}

std::string yaml_quoted(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace cleave::convert
