// Schemes in which a key picks its node without a circle: jump, guava, go-redis, pymemcache. Node i
// owns the i-th of n equal segments of the tokens, the key's hash tells where in it.
//
// jump (dgryski/go-jump, PyPI jump-consistent-hash 3.6.0) and guava 33.2.1 consistentHash: Lamping
//   and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm" (2014). They take a number of 64
//   bits, not a text: by default the key is one, in decimal (signed or unsigned), and a key that is
//   none has no place; `hash` names a function to make one of any key.
// go-redis v9.17.3 Ring: Redis hash tag, then the largest of xorshift-multiply(XXH64(key) ^
//   XXH64(name)) over the nodes; tie: the first.
// pymemcache 4.0.0 HashClient: the largest murmur3_32 of "host:port-key", seed 0; tie: the name
//   that sorts last. The hash takes the lowest byte of each character. `format` bytes: keys are
//   given as bytes objects, which Python writes b'key'. `allow_unicode`: keys are checked first, as
//   the client does; without it the hasher alone is asked, which takes any.
#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/hex.h"
#include "base/to_number.h"
#include "ring/hash_tag.h"
#include "ring/schemes/hashes/jump.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/hashes/utf16.h"
#include "ring/schemes/hashes/xxh64.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::ring {
namespace {

using Number = std::optional<std::uint64_t>;
using KeyNumber = Number (*)(std::string_view key);

Number decimal(std::string_view key) {
  if (const Number value = to_number<std::uint64_t>(key)) return value;
  const auto negative = to_number<std::int64_t>(key);
  if (!negative) return std::nullopt;
  return static_cast<std::uint64_t>(*negative);
}

Number by_xxh64(std::string_view key) { return xxh64(key); }
Number by_xxh3(std::string_view key) { return xxh3_64(key); }

constexpr std::array<Choice<KeyNumber>, 3> kNumbers = {
    {{"number", decimal}, {"xxh64", by_xxh64}, {"xxh3", by_xxh3}}};

Layout jump(OptionReader& options, std::span<const PlacedNode> nodes) {
  refuse_weights(options, nodes);
  const KeyNumber number = options.choice<KeyNumber>("hash", kNumbers);
  return {.token_of = [number, size = nodes.size()](std::string_view key) -> std::optional<Token> {
            const Number value = number(key);
            if (!value) return std::nullopt;
            return segment_token({jump_bucket(*value, size), size}, *value);
          },
          .owners = node_segments(nodes.size()),
          .tokens = Tokens::kOfNodes};
}

std::uint64_t xorshift_multiply(std::uint64_t value) {
  value ^= value >> 12U;
  value ^= value << 25U;
  value ^= value >> 27U;
  return value * 2'685'821'657'736'338'717U;
}

Layout go_redis(OptionReader& options, std::span<const PlacedNode> nodes) {
  refuse_weights(options, nodes);
  std::vector<std::uint64_t> names;
  for (const PlacedNode& node : nodes) names.push_back(xxh64(node.name));
  return {.token_of = [names](std::string_view key) -> std::optional<Token> {
            const std::uint64_t hash = xxh64(hash_tag(key));
            const auto best = std::ranges::max_element(
                names, {}, [&](std::uint64_t name) { return xorshift_multiply(hash ^ name); });
            const auto index = static_cast<std::uint64_t>(best - names.begin());
            return segment_token({index, names.size()}, hash);
          },
          .owners = node_segments(nodes.size()),
          .tokens = Tokens::kOfNodes};
}

// The lowest byte of each character.
std::string lowest_bytes(std::string_view text) {
  std::string bytes;
  while (!text.empty()) bytes += static_cast<char>(take_code_point(text) & 0xFFU);
  return bytes;
}

// A bytes object as Python writes it: b'...', in double quotes if it has single ones and no double.
std::string python_bytes(std::string_view key) {
  const bool has_single = key.find('\'') != std::string_view::npos;
  const char quote = has_single && key.find('"') == std::string_view::npos ? '"' : '\'';
  std::string text = std::string("b") + quote;
  for (const char c : key) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == quote || c == '\\') {
      text += {'\\', c};
    } else if (c == '\t') {
      text += "\\t";
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (byte < 0x20 || byte >= 0x7F) {
      text += "\\x";
      append_hex(text, c);
    } else {
      text += c;
    }
  }
  return text + quote;
}

using KeyText = std::string (*)(std::string_view key);

constexpr std::array<Choice<KeyText>, 2> kKeyTexts = {
    {{"str", lowest_bytes}, {"bytes", python_bytes}}};

enum class KeyCheck : std::uint8_t { kNone, kAscii, kUnicode };

constexpr std::array<Choice<KeyCheck>, 3> kKeyChecks = {
    {{"unchecked", KeyCheck::kNone}, {"false", KeyCheck::kAscii}, {"true", KeyCheck::kUnicode}}};

// What the memcached text protocol allows: at most 250 bytes, no white space, no zero byte.
bool is_memcached_key(std::string_view key) {
  constexpr std::size_t kBytesMax = 250;
  constexpr std::string_view kRefused{" \t\n\r\v\f\0", 7};
  return key.size() <= kBytesMax && key.find_first_of(kRefused) == std::string_view::npos;
}

bool is_ascii(std::string_view key) {
  return std::ranges::all_of(key, [](char c) { return static_cast<std::uint8_t>(c) < 0x80; });
}

Layout pymemcache(OptionReader& options, std::span<const PlacedNode> nodes) {
  refuse_weights(options, nodes);
  const KeyText text_of = options.choice<KeyText>("format", kKeyTexts);
  const auto check = options.choice<KeyCheck>("allow_unicode", kKeyChecks);
  const bool ascii = check == KeyCheck::kAscii && text_of == lowest_bytes;
  std::vector<std::string> names;
  for (const PlacedNode& node : nodes) names.push_back(with_port(node.name, kMemcachedPort));
  const auto token = [=](std::string_view key) -> std::optional<Token> {
    if (check != KeyCheck::kNone && !is_memcached_key(key)) return std::nullopt;
    if (ascii && !is_ascii(key)) return std::nullopt;
    const std::string text = "-" + text_of(key);
    std::size_t best = 0;
    std::uint32_t highest = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::uint32_t score = murmur3_32(lowest_bytes(names[i]) + text, 0);
      if (score < highest || (score == highest && names[i] < names[best])) continue;
      best = i;
      highest = score;
    }
    return segment_token({best, names.size()}, std::uint64_t{highest} << 32U);
  };
  return {.token_of = token, .owners = node_segments(nodes.size()), .tokens = Tokens::kOfNodes};
}

}  // namespace

std::vector<SchemeRow> direct_schemes() {
  const OptionText hash{"hash", "number (default): the key is one; xxh64, xxh3: of any key"};
  return {{{"jump", "go-jump, jump-consistent-hash 3.6.0", {hash}}, jump},
          {{"guava", "Guava 33.2.1", {hash}}, jump},
          {{"go-redis", "go-redis v9.17.3 Ring", {}}, go_redis},
          {{"pymemcache",
            "pymemcache 4.0.0",
            {{"format", "str (default), bytes: the type of the keys"},
             {"allow_unicode", "true, false: keys are checked as the client does; default: not"}}},
           pymemcache}};
}

}  // namespace cleave::ring
