// twemproxy (nutcracker) 0.5.0: twemproxy-ketama, twemproxy-modula.
//
//   ketama   points: MD5 of "name-i", four each, as many texts as ketama_counts says; a server
//            without a name is "ip:port", or "ip" if the port is 11211
//   modula   a table of every server as often as its weight, in order; hash mod its size
//   key      the configured hash of the key, or of its hash tag: what lies between the first X and
//            the first Y after it, if that is not empty. The empty key hashes to 0.
//   tie      the server that stands first
#include "ring/schemes/crc.h"
#include "ring/schemes/ketama.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/memcached_hash.h"

namespace cleave::ring {
namespace {

constexpr std::array<Choice<KeyHash32>, 12> kHashes = {{{"fnv1a_64", fnv1a_64},
                                                        {"one_at_a_time", one_at_a_time},
                                                        {"md5", md5_32},
                                                        {"crc16", crc16_wide},
                                                        {"crc32", crc32_upper_15},
                                                        {"crc32a", crc32},
                                                        {"fnv1_64", fnv1_64},
                                                        {"fnv1_32", fnv1_32},
                                                        {"fnv1a_32", fnv1a_32},
                                                        {"hsieh", hsieh},
                                                        {"murmur", murmur},
                                                        {"jenkins", jenkins}}};

// The bytes around a hash tag; nullopt: keys are hashed whole.
struct TagBytes {
  char open;
  char close;
};

std::optional<TagBytes> read_tag(OptionReader& options) {
  const auto text = options.given("hash_tag");
  if (!text || text->empty()) return std::nullopt;
  if (text->size() == 2) return TagBytes{text->front(), text->back()};
  options.refuse_value("hash_tag", *text, "want two bytes, such as {}");
  return std::nullopt;
}

std::string_view tag_of(std::string_view key, const TagBytes& tag) {
  const std::size_t open = key.find(tag.open);
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find(tag.close, open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

Hash32 read_hash(OptionReader& options) {
  return [hash = options.choice<KeyHash32>("hash", kHashes),
          tag = read_tag(options)](std::string_view key) {
    if (key.empty()) return std::uint32_t{0};
    return hash(tag ? tag_of(key, *tag) : key);
  };
}

Layout ketama(OptionReader& options, std::span<const PlacedNode> nodes) {
  const bool named = options.flag("named", false);
  std::vector<CirclePoint> points;
  if (!options.fits(ketama_points_max(nodes.size()))) return {};
  const std::vector<std::uint32_t> counts = ketama_counts(nodes);
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::string_view name = nodes[i].name;
    add_md5_points(named ? name : without_port(name, kMemcachedPort), counts[i], i, points);
  }
  return circle_layout_32(read_hash(options), std::move(points));
}

Layout modula(OptionReader& options, std::span<const PlacedNode> nodes) {
  const std::vector<std::uint32_t> table = weighted_table(options, nodes);
  if (table.empty()) return {};
  return table_layout(read_hash(options), table, Tokens::kOfNodes);
}

}  // namespace

std::vector<SchemeRow> twemproxy_schemes() {
  const OptionText hash{"hash",
                        "fnv1a_64 (default), one_at_a_time, md5, crc16, crc32, crc32a, fnv1_64, "
                        "fnv1_32, fnv1a_32, hsieh, murmur, jenkins"};
  const OptionText tag{"hash_tag", "two bytes, such as {}; default: none"};
  const OptionText named{"named",
                         "true: names are hashed as they are; false (default): they are "
                         "addresses, :11211 is left out"};
  return {{{"twemproxy-ketama", "twemproxy 0.5.0", {hash, tag, named}}, ketama},
          {{"twemproxy-modula", "twemproxy 0.5.0", {hash, tag}}, modula}};
}

}  // namespace cleave::ring
