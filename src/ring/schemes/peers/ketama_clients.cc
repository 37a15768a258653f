// Clients of the ketama family: spymemcached, uhashring, npm-hashring.
//
// spymemcached 2.12.3
//   KetamaNodeLocator    without weights: KETAMA_HASH: MD5 points of "address-i", 40 texts; other
//                        hashes: 160 points, the hash of "address-i" itself
//                        with weights: MD5 points, whatever the hash, as ketama_counts says
//     format SPYMEMCACHED  the socket address's text: "host/ip:port", or "ip:port"
//     format LIBMEMCACHED  "host", or "host:port" if the port is not 11211
//   ArrayModNodeLocator  (method plain) hash mod nodes
//   hash                 DefaultHashAlgorithm's; NATIVE and FNV read UTF-16 units
//   tie                  the point put last: a map's put
//
// uhashring 2.5
//   ketama   MD5 points of "name-i", 40 x nodes x weight / sum texts, rounded down in integers
//   default  160 points a weight: all of the MD5 of "name-i" as a number (or of the SHA-1)
//   owner    the first point above the key's value, not at it; tie: the point put last
//
// npm hashring 3.2.0
//   MD5 or SHA-1 points of "name-i" as given, as many texts as npm_counts says, four
//   of a digest, three with the hash_ring compatibility; tie: the server that stands first
#include <array>
#include <utility>

#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/digest.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/hashes/utf16.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/md5_token.h"
#include "ring/schemes/numbered_text.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::ring {
namespace {

constexpr CircleRules kLastPut{.tie = CircleRules::Tie::kLastPut};

// DefaultHashAlgorithm. Its FNV runs in 64 bits and is shortened in the end, which is the same as
// running in 32 bits.
std::uint32_t native_hash(std::string_view key) {
  return static_cast<std::uint32_t>(java_string_hash(key));
}

template <std::uint32_t kBasis, std::uint32_t kPrime>
std::uint32_t fnv1_of_units(std::string_view key) {
  std::uint32_t hash = kBasis;
  for_each_utf16_unit(key, [&](std::uint16_t unit) { hash = (hash * kPrime) ^ unit; });
  return hash;
}

template <std::uint32_t kBasis, std::uint32_t kPrime>
std::uint32_t fnv1a_of_units(std::string_view key) {
  std::uint32_t hash = kBasis;
  for_each_utf16_unit(key, [&](std::uint16_t unit) { hash = (hash ^ unit) * kPrime; });
  return hash;
}

constexpr std::array<Choice<KeyHash32>, 7> kSpyHashes = {
    {{"KETAMA_HASH", md5_32},
     {"NATIVE_HASH", native_hash},
     {"CRC_HASH", crc32_upper_15},
     {"FNV1_64_HASH", fnv1_of_units<0x84222325U, 0x1B3U>},
     {"FNV1A_64_HASH", fnv1a_of_units<0x84222325U, 0x1B3U>},
     {"FNV1_32_HASH", fnv1_of_units<0x811C9DC5U, 0x01000193U>},
     {"FNV1A_32_HASH", fnv1a_of_units<0x811C9DC5U, 0x01000193U>}}};

using Stem = std::string (*)(std::string_view name);

// The text of the socket address, without the slash that stands before an address without a name.
std::string socket_address(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  return with_port(name, kMemcachedPort);
}

// "host/ip:port" as libmemcached writes it.
std::string libmemcached_address(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  const HostPort parts = host_port(name);
  std::string text(parts.host.substr(0, parts.host.find('/')));
  if (!parts.port.empty() && parts.port != kMemcachedPort) text += ":" + std::string(parts.port);
  return text;
}

constexpr std::array<Choice<Stem>, 2> kFormats = {
    {{"SPYMEMCACHED", socket_address}, {"LIBMEMCACHED", libmemcached_address}}};

enum class Locator : std::uint8_t { kKetama, kArrayMod };

constexpr std::array<Choice<Locator>, 4> kLocators = {{{"consistent", Locator::kKetama},
                                                       {"plain", Locator::kArrayMod},
                                                       {"ketama", Locator::kKetama},
                                                       {"arraymod", Locator::kArrayMod}}};

// Hashed texts of each node: of equal weights always 40, as the locator without weights has it.
std::vector<std::uint32_t> spymemcached_texts(std::span<const PlacedNode> nodes) {
  if (!all_of_weight_one(nodes)) return ketama_counts(nodes);
  return std::vector<std::uint32_t>(nodes.size(), kKetamaTexts);
}

Layout spymemcached(OptionReader& options, std::span<const PlacedNode> nodes) {
  const KeyHash32 hash = options.choice<KeyHash32>("hash", kSpyHashes);
  const Stem stem = options.choice<Stem>("format", kFormats);
  if (options.choice<Locator>("method", kLocators) == Locator::kArrayMod) {
    refuse_weights(options, nodes);
    const std::vector<std::uint32_t> table = weighted_table(options, nodes);
    return table.empty() ? Layout{} : table_layout(hash, table, Tokens::kOfNodes);
  }
  if (!options.fits(ketama_points_max(nodes.size()))) return {};
  const std::vector<std::uint32_t> counts = spymemcached_texts(nodes);
  const bool single = hash != md5_32 && all_of_weight_one(nodes);
  std::vector<CirclePoint> points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::string text = stem(nodes[i].name);
    if (single) {
      const std::string texts = text + "-";
      add_numbered_points(
          {.stem = texts, .count = std::uint64_t{kKetamaTexts} * kMd5Points, .node = i}, hash,
          points);
    } else {
      add_md5_points({text, counts[i], i}, points);
    }
  }
  return circle_layout_32(hash, std::move(points), kLastPut);
}

Layout uhashring_ketama(OptionReader& options, std::span<const PlacedNode> nodes) {
  if (!options.fits(ketama_points_max(nodes.size()))) return {};
  const std::uint64_t total = weight_sum(nodes);
  std::vector<CirclePoint> points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::uint64_t texts = kKetamaTexts * nodes.size() * nodes[i].weight / total;
    add_md5_points({nodes[i].name, static_cast<std::uint32_t>(texts), i}, points);
  }
  CircleRules rules = kLastPut;
  rules.pick = CircleRules::Pick::kAbove;
  return circle_layout_32(md5_32, std::move(points), rules);
}

std::uint64_t md5_number(std::string_view text) { return upper_64(md5(text)); }
std::uint64_t sha1_number(std::string_view text) { return upper_64(sha1(text)); }

// Only the upper 64 bits of the numbers count (docs/adr/0013-placement-schemes.md): a key whose
// text is that of a point meets its own value there, and goes on to the next point.
Layout uhashring_numbers(OptionReader& options, std::span<const PlacedNode> nodes,
                         KeyToToken token_of, std::uint64_t (*number)(std::string_view)) {
  constexpr std::uint32_t kPointsPerWeight160 = 160;
  if (!options.fits(kPointsPerWeight160 * weight_sum(nodes))) return {};
  return {.token_of = std::move(token_of),
          .owners = named_circle({.separator = "-", .per_weight = kPointsPerWeight160}, number,
                                 {.width = CircleRules::Width::k64,
                                  .tie = CircleRules::Tie::kLastPut,
                                  .pick = CircleRules::Pick::kAbove})};
}

enum class UhashringHash : std::uint8_t { kMd5, kKetama, kSha1 };

constexpr std::array<Choice<UhashringHash>, 5> kUhashringHashes = {
    {{"default", UhashringHash::kMd5},
     {"ketama", UhashringHash::kKetama},
     {"sha1_hexint", UhashringHash::kSha1},
     {"md5", UhashringHash::kMd5},
     {"sha1", UhashringHash::kSha1}}};

Layout uhashring(OptionReader& options, std::span<const PlacedNode> nodes) {
  switch (options.choice<UhashringHash>("hash", kUhashringHashes)) {
    case UhashringHash::kKetama: return uhashring_ketama(options, nodes);
    case UhashringHash::kSha1:
      return uhashring_numbers(options, nodes, key_token_64(sha1_number), sha1_number);
    case UhashringHash::kMd5: break;
  }
  return uhashring_numbers(options, nodes, Md5Token<token_of_upper_64>{}, md5_number);
}

enum class NpmHash : std::uint8_t { kMd5, kSha1 };

constexpr std::array<Choice<NpmHash>, 2> kNpmHashes = {
    {{"md5", NpmHash::kMd5}, {"sha1", NpmHash::kSha1}}};

void add_sha1_points(const DigestPoints& added, std::vector<CirclePoint>& points) {
  NumberedText text(std::string(added.stem) + "-");
  for (std::uint32_t i = 0; i < added.texts; ++i, text.next()) {
    add_words(sha1(text.text()), added, points);
  }
}

// Points of a digest, by the compatibility that the ring is made with.
constexpr std::array<Choice<std::uint32_t>, 3> kNpmFormats = {
    {{"default", 4}, {"ketama", 4}, {"hash_ring", 3}}};

Layout npm_hashring(OptionReader& options, std::span<const PlacedNode> nodes) {
  const auto hash = options.choice<NpmHash>("hash", kNpmHashes);
  const std::uint32_t of_digest = options.choice<std::uint32_t>("format", kNpmFormats);
  const std::uint64_t texts = options.number(
      {.name = "points", .fallback = kKetamaTexts, .min = 1, .max = kPlacedPointsMax});
  const std::string_view port = options.given("default_port").value_or("");
  if (!options.fits(texts * nodes.size() * of_digest)) return {};
  const std::vector<std::uint32_t> counts = npm_counts(nodes, texts);
  const auto add_points = hash == NpmHash::kMd5 ? add_md5_points : add_sha1_points;
  std::vector<CirclePoint> points;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::string_view name = nodes[i].name;
    const std::string_view stem = port.empty() ? name : without_port(name, port);
    add_points({stem, counts[i], i, of_digest}, points);
  }
  if (hash == NpmHash::kMd5) {
    return circle_layout(Md5Token<token_of_first_word>{}, std::move(points), {});
  }
  return circle_layout_32([](std::string_view key) { return little_endian_32(sha1(key), 0); },
                          std::move(points));
}

}  // namespace

std::vector<SchemeRow> ketama_client_schemes() {
  return {
      {{"spymemcached",
        "spymemcached 2.12.3",
        {{"hash",
          "KETAMA_HASH (default), NATIVE_HASH, CRC_HASH, FNV1_64_HASH, FNV1A_64_HASH, "
          "FNV1_32_HASH, FNV1A_32_HASH"},
         {"format", "SPYMEMCACHED (default), LIBMEMCACHED"},
         {"method", "consistent (default), plain: ArrayModNodeLocator"}}},
       spymemcached},
      {{"uhashring", "uhashring 2.5", {{"hash", "default (md5), ketama, sha1_hexint"}}}, uhashring},
      {{"npm-hashring",
        "npm hashring 3.2.0",
        {{"hash", "md5 (default), sha1"},
         {"format", "default, ketama, hash_ring: the compatibility"},
         {"points", "vnode count; default 40"},
         {"default_port", "left out of names; default: none"}}},
       npm_hashring}};
}

}  // namespace cleave::ring
