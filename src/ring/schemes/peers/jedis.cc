// Jedis 2.10.2, 3.9.0 and 4.4.6, ShardedJedis.
//
//   points   160 a weight: hash of "SHARD-i-NODE-n", or of "name*n" for named servers
//   hash     murmur: MurmurHash64A, seed 0x1234ABCD, in signed order; md5: first four bytes, little
//            endian, unsigned
//   owner    the first point at or above, else the smallest
//   key tag  what \{(.+?)\} finds first; String keys only (without it: what byte[] keys do)
//   tie      the point put last: a map's put
#include <array>

#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/md5_token.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kJedisPointsPerWeight = 160;
constexpr std::uint64_t kJedisSeed = 0x1234ABCD;

enum class JedisHash : std::uint8_t { kMurmur, kMd5 };

constexpr std::array<Choice<JedisHash>, 3> kJedisHashes = {{{"murmur", JedisHash::kMurmur},
                                                            {"md5", JedisHash::kMd5},
                                                            {"MURMUR_HASH", JedisHash::kMurmur}}};

constexpr std::array<Choice<bool>, 8> kKeyTags = {{{"none", false},
                                                   {"default", true},
                                                   {"\\{(.+?)\\}", true},
                                                   {"{}", true},
                                                   {"true", true},
                                                   {"yes", true},
                                                   {"false", false},
                                                   {"no", false}}};

// Length of the line terminator that the text begins with, which '.' does not match; 0 = none.
std::size_t line_terminator(std::string_view text) {
  if (text.starts_with('\n') || text.starts_with('\r')) return 1;
  if (text.starts_with("\xC2\x85")) return 2;  // next line
  if (text.starts_with("\xE2\x80\xA8") || text.starts_with("\xE2\x80\xA9")) return 3;
  return 0;
}

// The tag that begins after a '{': at least one character, up to the next '}', all on one line.
std::optional<std::string_view> tag_at(std::string_view rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (i > 0 && rest[i] == '}') return rest.substr(0, i);
    if (line_terminator(rest.substr(i)) > 0) return std::nullopt;
  }
  return std::nullopt;
}

std::string_view key_tag(std::string_view key) {
  for (std::size_t open = key.find('{'); open != std::string_view::npos;
       open = key.find('{', open + 1)) {
    if (const auto tag = tag_at(key.substr(open + 1))) return *tag;
  }
  return key;
}

std::uint64_t value_of(std::string_view text, JedisHash hash) {
  return hash == JedisHash::kMd5 ? md5_32(text) : unsigned_order(murmur64a(text, kJedisSeed));
}

// What of a key is hashed.
struct TaggedPart {
  bool tagged;

  std::string_view operator()(std::string_view key) const { return tagged ? key_tag(key) : key; }
};

KeyToToken key_to_token(JedisHash hash, bool tagged) {
  const TaggedPart part{tagged};
  if (hash == JedisHash::kMd5) return Md5Token<token_of_first_word, TaggedPart>{part};
  return key_token_64(
      [part](std::string_view key) { return value_of(part(key), JedisHash::kMurmur); });
}

std::vector<CirclePoint> unnamed_points(std::span<const PlacedNode> nodes, JedisHash hash) {
  const auto value = [hash](std::string_view text) { return value_of(text, hash); };
  std::vector<CirclePoint> points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::string stem = "SHARD-" + std::to_string(position_of(nodes, i)) + "-NODE-";
    add_numbered_points(
        {.stem = stem, .count = std::uint64_t{kJedisPointsPerWeight} * nodes[i].weight, .node = i},
        value, points);
  }
  return points;
}

Layout jedis(OptionReader& options, std::span<const PlacedNode> nodes) {
  const auto hash = options.choice<JedisHash>("hash", kJedisHashes);
  const bool named = options.flag("named", false);
  const bool tagged = options.choice<bool>("key_tag", kKeyTags);
  if (!options.fits(kJedisPointsPerWeight * weight_sum(nodes))) return {};
  const CircleRules rules{
      .width = hash == JedisHash::kMurmur ? CircleRules::Width::k64 : CircleRules::Width::k32,
      .tie = CircleRules::Tie::kLastPut};
  KeyToToken token_of = key_to_token(hash, tagged);
  if (!named) return circle_layout(std::move(token_of), unnamed_points(nodes, hash), rules);
  const auto value = [hash](std::string_view text) { return value_of(text, hash); };
  return {.token_of = std::move(token_of),
          .owners =
              named_circle({.separator = "*", .per_weight = kJedisPointsPerWeight}, value, rules)};
}

}  // namespace

std::vector<SchemeRow> jedis_schemes() {
  return {{{"jedis",
            "Jedis 3.9.0",
            {{"hash", "murmur (default), md5"},
             {"named", "true: points by name; false (default): by position"},
             {"key_tag", "none (default), default: the pattern \\{(.+?)\\}"}}},
           jedis}};
}

}  // namespace cleave::ring
