#include "coord/etcd/messages.h"

#include <openssl/evp.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace cleave::coord::etcd {
namespace {

using nlohmann::json;

json keys_of(const KeyRange& keys) {
  json body{{"key", to_base64(keys.first)}};
  if (!keys.last.empty()) body["range_end"] = to_base64(keys.last);
  return body;
}

std::unexpected<Error> not_etcd(std::string_view text) {
  return fail(Code::kInvalid, "not an answer of etcd: '" + std::string(text.substr(0, 200)) + "'");
}

// An object, or a discarded value.
json parse(std::string_view text) {
  json parsed = json::parse(text, nullptr, false);
  return parsed.is_object() ? parsed : json(json::value_t::discarded);
}

const json& field(const json& object, const char* name) {
  static const json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

// A missing one is its default, 0; etcd writes them as text, other gateways as numbers.
std::int64_t number(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return 0;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t parsed = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  return failed == std::errc{} && end == text.data() + text.size() ? parsed : 0;
}

bool is_true(const json& value) { return value.is_boolean() && value.get<bool>(); }

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

// A missing one is empty.
std::optional<std::string> bytes_of(const json& value) {
  return value.is_string() ? from_base64(value.get_ref<const std::string&>()) : std::string();
}

Revision revision_of(const json& answer) {
  return Revision{number(field(field(answer, "header"), "revision"))};
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's bytes are unsigned
std::string to_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and the NUL that it writes
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  // It counts the padding as zero bytes.
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

KeyRange prefix_range(const std::string& prefix) {
  std::string last = prefix;
  last.back() = static_cast<char>(last.back() + 1);  // our prefixes end with '/' or '-'
  return {.first = prefix, .last = std::move(last)};
}

std::string range_body(const KeyRange& keys, Values values, Revision at) {
  json body = keys_of(keys);
  body["serializable"] = false;
  if (values == Values::kKeysOnly) body["keys_only"] = true;
  if (at != Revision{}) body["revision"] = std::to_string(at.value());
  return body.dump();
}

std::string txn_body(const Txn& txn) {
  json body{{"success", json::array()}};
  if (!txn.unconditional) {
    json compare{{"result", "EQUAL"}, {"key", to_base64(txn.key)}};
    if (txn.value) {
      compare["target"] = "VALUE";
      compare["value"] = to_base64(*txn.value);
    } else {
      compare["target"] = "VERSION";
      compare["version"] = "0";
    }
    body["compare"] = json::array({compare});
  }
  for (const Txn::Put& put : txn.puts) {
    json request{{"key", to_base64(put.key)}, {"value", to_base64(put.value)}};
    if (put.lease != LeaseId{}) request["lease"] = std::to_string(put.lease.value());
    body["success"].push_back({{"request_put", std::move(request)}});
  }
  for (const KeyRange& keys : txn.deletions)
    body["success"].push_back({{"request_delete_range", keys_of(keys)}});
  return body.dump();
}

std::string grant_body(std::int64_t ttl_seconds) {
  return json{{"TTL", std::to_string(ttl_seconds)}}.dump();
}

std::string lease_body(LeaseId lease) { return json{{"ID", std::to_string(lease.value())}}.dump(); }

std::string watch_body(const std::string& key, Revision from) {
  const json create{{"key", to_base64(key)}, {"start_revision", std::to_string(from.value())}};
  return json{{"create_request", create}}.dump();
}

std::string authenticate_body(const std::string& user, const std::string& password) {
  return json{{"name", user}, {"password", password}}.dump(-1, ' ', false,
                                                           json::error_handler_t::replace);
}

Result<RangeReply> parse_range(std::string_view text) {
  const json answer = parse(text);
  if (answer.is_discarded()) return not_etcd(text);
  RangeReply reply{.revision = revision_of(answer), .pairs = {}};
  for (const json& pair : field(answer, "kvs")) {
    auto key = bytes_of(field(pair, "key"));
    auto value = bytes_of(field(pair, "value"));
    if (!key || !value) return not_etcd(text);
    reply.pairs.push_back({.key = std::move(*key), .value = std::move(*value)});
  }
  return reply;
}

Result<bool> parse_txn(std::string_view text) {
  const json answer = parse(text);
  // Without a header it was not etcd who said it: "no" must not be read out of nothing.
  if (answer.is_discarded() || revision_of(answer) == Revision{}) return not_etcd(text);
  return is_true(field(answer, "succeeded"));
}

Result<LeaseId> parse_grant(std::string_view text) {
  const LeaseId lease{number(field(parse(text), "ID"))};
  if (lease == LeaseId{}) return not_etcd(text);
  return lease;
}

Result<bool> parse_keepalive(std::string_view text) {
  const json answer = parse(text);
  const json& result = field(answer, "result");
  if (!result.is_object()) return not_etcd(text);
  return number(field(result, "TTL")) > 0;
}

Result<std::string> parse_token(std::string_view text) {
  std::string token = text_of(field(parse(text), "token"));
  if (token.empty()) return not_etcd(text);
  return token;
}

Result<WatchLine> parse_watch(std::string_view line) {
  const json answer = parse(line);
  const json& result = field(answer, "result");
  if (!result.is_object()) return not_etcd(line);
  WatchLine parsed{.newest = {},
                   .puts = {},
                   .canceled = is_true(field(result, "canceled")),
                   .compacted = Revision{number(field(result, "compact_revision"))},
                   .reason = text_of(field(result, "cancel_reason"))};
  for (const json& event : field(result, "events")) {
    const json& pair = field(event, "kv");
    // Not the header's revision: that may be ahead of what was told yet.
    parsed.newest = std::max(parsed.newest, Revision{number(field(pair, "mod_revision"))});
    if (text_of(field(event, "type")) == "DELETE") continue;
    auto value = bytes_of(field(pair, "value"));
    if (!value) return not_etcd(line);
    parsed.puts.push_back(std::move(*value));
  }
  return parsed;
}

Refusal parse_refusal(std::string_view text) {
  const json answer = parse(text);
  Refusal refusal{.code = static_cast<int>(number(field(answer, "code"))),
                  .message = text_of(field(answer, "message"))};
  if (refusal.message.empty()) refusal.message = text_of(field(answer, "error"));
  if (refusal.message.empty()) refusal.message = std::string(text.substr(0, 200));
  return refusal;
}

}  // namespace cleave::coord::etcd
