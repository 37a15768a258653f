// Lists, hashes, sets and sorted sets.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "base/hash.h"
#include "sim/model/command.h"

namespace cleave::sim {
namespace {

std::int64_t as_integer(std::size_t size) { return static_cast<std::int64_t>(size); }

// The part [first, last] of `size` elements with Redis's negative indexes; empty when first > last.
struct Window {
  std::size_t first = 0;
  std::size_t count = 0;
};

bool parse_window(Call& call, std::size_t size, Window& window) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  if (!parse_integer(call.args[2], first) || !parse_integer(call.args[3], last)) {
    wire::append_error(call.reply, kNotInteger);
    return false;
  }
  const std::int64_t length = as_integer(size);
  if (first < 0) first = std::max<std::int64_t>(0, first + length);
  if (last < 0) last += length;
  last = std::min(last, length - 1);
  if (first <= last)
    window = {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)};
  return true;
}

template <class T>
void count_elements(Call& call) {
  const auto found = find_as<T>(call, call.args[1]);
  if (found.wrong_type) return;
  wire::append_integer(call.reply, found.value == nullptr ? 0 : as_integer(found.value->size()));
}

// ---- lists
// ----------------------------------------------------------------------------------------

enum class Side : std::uint8_t { kLeft, kRight };

void push(Call& call, Side side) {
  if (find_as<ListValue>(call, call.args[1]).wrong_type) return;
  ListValue& list = edit_as<ListValue>(call, call.args[1]);
  for (const std::string& element : call.args.subspan(2)) {
    if (side == Side::kLeft)
      list.push_front(element);
    else
      list.push_back(element);
  }
  wire::append_integer(call.reply, as_integer(list.size()));
}

void pop(Call& call, Side side) {
  std::int64_t count = 1;
  const bool many = call.args.size() == 3;
  if (many && (!parse_integer(call.args[2], count) || count < 0))
    return wire::append_error(call.reply, "ERR value is out of range, must be positive");
  const auto found = find_as<ListValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr) {
    if (many)
      call.reply += "*-1\r\n";
    else
      wire::append_null(call.reply);
    return;
  }
  if (many) {
    count = std::min(count, as_integer(found.value->size()));
    wire::append_array_header(call.reply, static_cast<std::size_t>(count));
  }
  ListValue& list = edit_as<ListValue>(call, call.args[1]);
  for (std::int64_t i = 0; i < count; ++i) {
    wire::append_bulk(call.reply, side == Side::kLeft ? list.front() : list.back());
    if (side == Side::kLeft)
      list.pop_front();
    else
      list.pop_back();
  }
  drop_if_empty(call, call.args[1]);
}

void lpush(Call& call) { push(call, Side::kLeft); }
void rpush(Call& call) { push(call, Side::kRight); }
void lpop(Call& call) { pop(call, Side::kLeft); }
void rpop(Call& call) { pop(call, Side::kRight); }

void lrange(Call& call) {
  std::int64_t ignored = 0;
  if (!parse_integer(call.args[2], ignored) || !parse_integer(call.args[3], ignored))
    return wire::append_error(call.reply, kNotInteger);
  const auto found = find_as<ListValue>(call, call.args[1]);
  if (found.wrong_type) return;
  Window window;
  if (!parse_window(call, found.value == nullptr ? 0 : found.value->size(), window)) return;
  wire::append_array_header(call.reply, window.count);
  for (std::size_t i = 0; i < window.count; ++i)
    wire::append_bulk(call.reply, (*found.value)[window.first + i]);
}

// ---- hashes
// ---------------------------------------------------------------------------------------

void hset(Call& call) {
  if (call.args.size() % 2 != 0)
    return wire::append_error(call.reply, "ERR wrong number of arguments for 'hset' command");
  if (find_as<HashValue>(call, call.args[1]).wrong_type) return;
  HashValue& hash = edit_as<HashValue>(call, call.args[1]);
  std::int64_t added = 0;
  for (std::size_t i = 2; i < call.args.size(); i += 2)
    added += hash.insert_or_assign(call.args[i], call.args[i + 1]).second ? 1 : 0;
  wire::append_integer(call.reply, added);
}

void hget(Call& call) {
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr || !found.value->contains(call.args[2]))
    return wire::append_null(call.reply);
  wire::append_bulk(call.reply, found.value->at(call.args[2]));
}

void hdel(Call& call) {
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr) return wire::append_integer(call.reply, 0);
  HashValue& hash = edit_as<HashValue>(call, call.args[1]);
  std::size_t removed = 0;
  for (const std::string& field : call.args.subspan(2)) removed += hash.erase(field);
  wire::append_integer(call.reply, as_integer(removed));
  drop_if_empty(call, call.args[1]);
}

void hmget(Call& call) {
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  wire::append_array_header(call.reply, call.args.size() - 2);
  for (const std::string& field : call.args.subspan(2)) {
    if (found.value == nullptr || !found.value->contains(field)) {
      wire::append_null(call.reply);
    } else {
      wire::append_bulk(call.reply, found.value->at(field));
    }
  }
}

void hkeys(Call& call) {
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  wire::append_array_header(call.reply, found.value == nullptr ? 0 : found.value->size());
  if (found.value == nullptr) return;
  for (const auto& [field, text] : *found.value) wire::append_bulk(call.reply, field);
}

void hstrlen(Call& call) {
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  const bool there = found.value != nullptr && found.value->contains(call.args[2]);
  wire::append_integer(call.reply, there ? as_integer(found.value->at(call.args[2]).size()) : 0);
}

void hincrby(Call& call) {
  std::int64_t by = 0;
  std::int64_t number = 0;
  if (!parse_integer(call.args[3], by)) return wire::append_error(call.reply, kNotInteger);
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value != nullptr && found.value->contains(call.args[2]) &&
      !parse_integer(found.value->at(call.args[2]), number))
    return wire::append_error(call.reply, "ERR hash value is not an integer");
  HashValue& hash = edit_as<HashValue>(call, call.args[1]);
  hash[call.args[2]] = std::to_string(number + by);
  wire::append_integer(call.reply, number + by);
}

void hgetall(Call& call) {
  const auto found = find_as<HashValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr) return wire::append_array_header(call.reply, 0);
  wire::append_array_header(call.reply, found.value->size() * 2);
  for (const auto& [field, text] : *found.value) {
    wire::append_bulk(call.reply, field);
    wire::append_bulk(call.reply, text);
  }
}

// ---- sets
// -----------------------------------------------------------------------------------------

void sadd(Call& call) {
  if (find_as<SetValue>(call, call.args[1]).wrong_type) return;
  SetValue& set = edit_as<SetValue>(call, call.args[1]);
  std::int64_t added = 0;
  for (const std::string& member : call.args.subspan(2)) added += set.insert(member).second ? 1 : 0;
  wire::append_integer(call.reply, added);
}

template <class T>
void remove_members(Call& call) {
  const auto found = find_as<T>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr) return wire::append_integer(call.reply, 0);
  T& members = edit_as<T>(call, call.args[1]);
  std::size_t removed = 0;
  for (const std::string& member : call.args.subspan(2)) removed += members.erase(member);
  wire::append_integer(call.reply, as_integer(removed));
  drop_if_empty(call, call.args[1]);
}

std::string score_text(double score) {
  char buffer[64];
  const int size = std::snprintf(buffer, sizeof buffer, "%.17g", score);
  return {buffer, static_cast<std::size_t>(size)};
}

// The name of each element: a map's key, or a set's member.
template <class Element>
const std::string& name_of(const Element& element) {
  if constexpr (std::is_same_v<Element, std::string>) {
    return element;
  } else {
    return element.first;
  }
}

// Of HSCAN and its like: in the order of a hash, so that what is there all the time is in some
// page.
struct ScanOf {
  std::uint64_t from = 0;
  std::size_t count = 10;
};

bool parse_scan(Call& call, ScanOf& scan) {
  std::int64_t from = 0;
  std::int64_t count = as_integer(scan.count);
  const bool counted = call.args.size() == 5 && upper(call.args[3]) == "COUNT";
  const bool fits = call.args.size() == 3 || counted;
  if (!parse_integer(call.args[2], from) || from < 0) {
    wire::append_error(call.reply, "ERR invalid cursor");
    return false;
  }
  if (!fits || (counted && (!parse_integer(call.args[4], count) || count < 1))) {
    wire::append_error(call.reply, kSyntax);
    return false;
  }
  scan = {.from = static_cast<std::uint64_t>(from), .count = static_cast<std::size_t>(count)};
  return true;
}

template <class Element>
void append_element(std::vector<std::string>& texts, const Element& element) {
  texts.push_back(name_of(element));
  if constexpr (std::is_same_v<Element, HashValue::value_type>) texts.push_back(element.second);
  if constexpr (std::is_same_v<Element, ZsetValue::value_type>)
    texts.push_back(score_text(element.second));
}

// HSCAN, SSCAN, ZSCAN: small collections come in one page, as from the real server.
template <class T>
void scan_elements(Call& call) {
  ScanOf scan;
  if (!parse_scan(call, scan)) return;
  const auto found = find_as<T>(call, call.args[1]);
  if (found.wrong_type) return;
  using Element = typename T::value_type;
  std::multimap<std::uint64_t, const Element*> order;
  if (found.value != nullptr) {
    for (const Element& element : *found.value)
      order.emplace((xxh3_64(name_of(element)) >> 16U) + 1, &element);
  }
  std::vector<std::string> texts;
  std::uint64_t next = 0;
  std::size_t listed = 0;
  for (auto each = order.lower_bound(scan.from); each != order.end(); ++each, ++listed) {
    if (listed >= scan.count && each->first != std::prev(each)->first) {
      next = each->first;
      break;
    }
    append_element(texts, *each->second);
  }
  wire::append_array_header(call.reply, 2);
  wire::append_bulk(call.reply, std::to_string(next));
  wire::append_array_header(call.reply, texts.size());
  for (const std::string& text : texts) wire::append_bulk(call.reply, text);
}

void sismember(Call& call) {
  const auto found = find_as<SetValue>(call, call.args[1]);
  if (found.wrong_type) return;
  const bool there = found.value != nullptr && found.value->contains(call.args[2]);
  wire::append_integer(call.reply, there ? 1 : 0);
}

void smismember(Call& call) {
  const auto found = find_as<SetValue>(call, call.args[1]);
  if (found.wrong_type) return;
  wire::append_array_header(call.reply, call.args.size() - 2);
  for (const std::string& member : call.args.subspan(2))
    wire::append_integer(call.reply,
                         found.value != nullptr && found.value->contains(member) ? 1 : 0);
}

void smembers(Call& call) {
  const auto found = find_as<SetValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr) return wire::append_array_header(call.reply, 0);
  wire::append_array_header(call.reply, found.value->size());
  for (const std::string& member : *found.value) wire::append_bulk(call.reply, member);
}

// ---- sorted sets
// ----------------------------------------------------------------------------------

// As Redis's string2d: what strtod takes, all of it, without leading space.
bool parse_score(const std::string& text, double& score) {
  if (text.empty() || text.front() == ' ') return false;
  char* end = nullptr;
  // A small set keeps whole numbers as such, and they know no -0.
  score = std::strtod(text.c_str(), &end) + 0.0;
  return end == text.c_str() + text.size() && !std::isnan(score);
}

void zadd(Call& call) {
  if (call.args.size() % 2 != 0) return wire::append_error(call.reply, kSyntax);
  std::vector<double> scores;
  for (std::size_t i = 2; i < call.args.size(); i += 2) {
    double score = 0;
    if (!parse_score(call.args[i], score))
      return wire::append_error(call.reply, "ERR value is not a valid float");
    scores.push_back(score);
  }
  if (find_as<ZsetValue>(call, call.args[1]).wrong_type) return;
  ZsetValue& zset = edit_as<ZsetValue>(call, call.args[1]);
  std::int64_t added = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    added += zset.insert_or_assign(call.args[3 + 2 * i], scores[i]).second ? 1 : 0;
  wire::append_integer(call.reply, added);
}

void zscore(Call& call) {
  const auto found = find_as<ZsetValue>(call, call.args[1]);
  if (found.wrong_type) return;
  if (found.value == nullptr || !found.value->contains(call.args[2]))
    return wire::append_null(call.reply);
  wire::append_bulk(call.reply, score_text(found.value->at(call.args[2])));
}

void zmscore(Call& call) {
  const auto found = find_as<ZsetValue>(call, call.args[1]);
  if (found.wrong_type) return;
  wire::append_array_header(call.reply, call.args.size() - 2);
  for (const std::string& member : call.args.subspan(2)) {
    if (found.value == nullptr || !found.value->contains(member)) {
      wire::append_null(call.reply);
    } else {
      wire::append_bulk(call.reply, score_text(found.value->at(member)));
    }
  }
}

void zrange(Call& call) {
  const bool scores = call.args.size() == 5 && upper(call.args[4]) == "WITHSCORES";
  if (call.args.size() > 4 && !scores) return wire::append_error(call.reply, kSyntax);
  std::int64_t ignored = 0;
  if (!parse_integer(call.args[2], ignored) || !parse_integer(call.args[3], ignored))
    return wire::append_error(call.reply, kNotInteger);
  const auto found = find_as<ZsetValue>(call, call.args[1]);
  if (found.wrong_type) return;
  std::vector<std::pair<double, std::string_view>> sorted;
  if (found.value != nullptr)
    for (const auto& [member, score] : *found.value) sorted.emplace_back(score, member);
  std::sort(sorted.begin(), sorted.end());
  Window window;
  if (!parse_window(call, sorted.size(), window)) return;
  wire::append_array_header(call.reply, window.count * (scores ? 2 : 1));
  for (std::size_t i = window.first; i < window.first + window.count; ++i) {
    wire::append_bulk(call.reply, sorted[i].second);
    if (scores) wire::append_bulk(call.reply, score_text(sorted[i].first));
  }
}

constexpr CommandInfo kCollectionCommands[] = {
    {"hdel", -3, true, 1, 1, 1, hdel},
    {"hget", 3, false, 1, 1, 1, hget},
    {"hgetall", 2, false, 1, 1, 1, hgetall},
    {"hincrby", 4, true, 1, 1, 1, hincrby},
    {"hkeys", 2, false, 1, 1, 1, hkeys},
    {"hlen", 2, false, 1, 1, 1, count_elements<HashValue>},
    {"hmget", -3, false, 1, 1, 1, hmget},
    {"hscan", -3, false, 1, 1, 1, scan_elements<HashValue>},
    {"hset", -4, true, 1, 1, 1, hset},
    {"hstrlen", 3, false, 1, 1, 1, hstrlen},
    {"llen", 2, false, 1, 1, 1, count_elements<ListValue>},
    {"lpop", -2, true, 1, 1, 1, lpop},
    {"lpush", -3, true, 1, 1, 1, lpush},
    {"lrange", 4, false, 1, 1, 1, lrange},
    {"rpop", -2, true, 1, 1, 1, rpop},
    {"rpush", -3, true, 1, 1, 1, rpush},
    {"sadd", -3, true, 1, 1, 1, sadd},
    {"scard", 2, false, 1, 1, 1, count_elements<SetValue>},
    {"sismember", 3, false, 1, 1, 1, sismember},
    {"smembers", 2, false, 1, 1, 1, smembers},
    {"smismember", -3, false, 1, 1, 1, smismember},
    {"srem", -3, true, 1, 1, 1, remove_members<SetValue>},
    {"sscan", -3, false, 1, 1, 1, scan_elements<SetValue>},
    {"zadd", -4, true, 1, 1, 1, zadd},
    {"zcard", 2, false, 1, 1, 1, count_elements<ZsetValue>},
    {"zmscore", -3, false, 1, 1, 1, zmscore},
    {"zrange", -4, false, 1, 1, 1, zrange},
    {"zrem", -3, true, 1, 1, 1, remove_members<ZsetValue>},
    {"zscan", -3, false, 1, 1, 1, scan_elements<ZsetValue>},
    {"zscore", 3, false, 1, 1, 1, zscore},
};

}  // namespace

std::span<const CommandInfo> collection_commands() { return kCollectionCommands; }

}  // namespace cleave::sim
