#include "backend/refusal.h"

#include <algorithm>
#include <set>

#include "base/own_names.h"

namespace cleave::backend {
namespace {

// How error replies begin that are said of a value. Everything else is said of the server; some of
// it is listed in the test, with the sentences of Redis 6.2 and 7.0 and of Valkey 9.
constexpr std::string_view kOfValue[] = {
    "ERR Bad data format",         // RESTORE: the version fits, but the type is not known there
    "WRONGTYPE",                   // the key became another type between two commands
    "ERR no such key",             // it went between two commands
    "NOGROUP",                     // likewise a consumer group
    "BUSYGROUP",                   //
    "ERR string exceeds maximum",  // APPEND above the server's proto-max-bulk-len
    "ERR Protocol error: invalid bulk length",  // likewise an element
    "ERR Invalid TTL value",                    // of RESTORE
    "ERR invalid expire time",                  //
    "ERR Invalid IDLETIME value",               //
    "ERR Invalid FREQ value",                   //
    "ERR The ID specified in X",  // XADD, XSETID: the stream changed between two pieces
};

// 7.0: "... no permissions to run the 'client|kill' command", "... no permissions to access one of
// the keys used as arguments". Later: "User app has no ...", "No permissions to access a key".
void note_denied(std::string_view words, Keys keys, std::set<std::string>& lacking) {
  if (words.find("run the") == std::string_view::npos) {
    const std::string_view all_of = keys == Keys::kOwn ? kOwnKeyPrefix : "";
    lacking.insert(std::string("~").append(all_of).append("*"));
    return;
  }
  const std::size_t open = words.find('\'');
  const std::size_t close = words.find('\'', open + 1);
  if (close == std::string_view::npos) return;
  lacking.insert(std::string("+").append(words.substr(open + 1, close - open - 1)));
}

constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kVersionBytes = 2;

}  // namespace

Blame blame_of(std::string_view error) {
  const bool of_value = std::ranges::any_of(
      kOfValue, [&](std::string_view beginning) { return error.starts_with(beginning); });
  return of_value ? Blame::kValue : Blame::kServer;
}

const wire::Reply* server_refusal(std::span<const wire::Reply> replies) {
  for (const wire::Reply& reply : replies) {
    if (reply.is_error() && blame_of(reply.text) == Blame::kServer) return &reply;
  }
  return nullptr;
}

std::uint16_t rdb_version_of(std::string_view payload) {
  constexpr std::size_t kFooter = kChecksumBytes + kVersionBytes;
  if (payload.size() <= kFooter) return 0;
  const std::string_view footer = payload.substr(payload.size() - kFooter);
  const auto low = static_cast<unsigned char>(footer[0]);
  const auto high = static_cast<unsigned char>(footer[1]);
  return static_cast<std::uint16_t>(low + high * 256U);
}

std::string missing_rights(std::string_view user, std::span<const wire::Reply> replies, Keys keys) {
  std::set<std::string> lacking;
  for (const wire::Reply& reply : replies) {
    if (reply.is_error() && reply.text.starts_with("NOPERM"))
      note_denied(reply.text, keys, lacking);
  }
  if (lacking.empty()) return "";
  std::string line("ACL SETUSER ");
  line.append(user);
  for (const std::string& each : lacking) line.append(" ").append(each);
  return line;
}

}  // namespace cleave::backend
