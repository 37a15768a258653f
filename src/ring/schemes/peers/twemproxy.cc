// twemproxy (nutcracker) 0.5.0: twemproxy-ketama, twemproxy-modula.
//
//   ketama   points: MD5 of "name-i", four each, as many texts as ketama_counts says; a server
//            without a name is "ip:port", or "ip" if the port is 11211
//   modula   a table of every server as often as its weight; hash mod its size
//   key      the configured hash of the key, or of its hash tag: what lies between the first X and
//            the first Y after it, if that is not empty. The empty key hashes to 0.
//   order    whatever the configuration's, twemproxy sorts its servers by name, short ones first:
//            that is the order of modula's table, and in ketama the first of equal points wins
#include <algorithm>
#include <array>
#include <utility>

#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/hashes/memcached_hash.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/md5_token.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::ring {
namespace {

constexpr std::array<Choice<KeyHash32>, 12> kTwemproxyHashes = {{{"fnv1a_64", fnv1a_64},
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

constexpr std::uint32_t kHashOfEmpty = 0;

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

// What of a key is hashed. Empty only if the key is.
struct HashedPart {
  std::optional<TagBytes> tag;

  std::string_view operator()(std::string_view key) const { return tag ? tag_of(key, *tag) : key; }
};

struct KeyHash {
  KeyHash32 hash;
  HashedPart part;

  std::uint32_t operator()(std::string_view key) const {
    return key.empty() ? kHashOfEmpty : hash(part(key));
  }
};

KeyHash read_hash(OptionReader& options) {
  return {.hash = options.choice<KeyHash32>("hash", kTwemproxyHashes), .part = {read_tag(options)}};
}

// KeyHash by MD5, many keys at once.
struct Md5Keys {
  Md5Token<token_of_first_word, HashedPart> token_of;

  std::optional<Token> operator()(std::string_view key) const {
    return key.empty() ? token_of_32(kHashOfEmpty) : token_of(key);
  }
  void operator()(std::span<const std::string_view> keys,
                  std::span<std::optional<Token>> tokens) const {
    token_of(keys, tokens);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].empty()) tokens[i] = token_of_32(kHashOfEmpty);
    }
  }
};

KeyToToken key_to_token(const KeyHash& hash) {
  if (hash.hash == md5_32) return Md5Keys{.token_of = {hash.part}};
  return key_token_32(hash);
}

// A server as twemproxy names it.
struct Server {
  std::string_view name;
  std::uint32_t node;
};

std::vector<Server> sorted_servers(OptionReader& options, std::span<const PlacedNode> nodes) {
  const bool named = options.flag("named", false);
  std::vector<Server> servers;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    const std::string_view name = nodes[i].name;
    servers.push_back({named ? name : without_port(name, kMemcachedPort), i});
  }
  std::ranges::stable_sort(
      servers, {}, [](const Server& server) { return std::pair(server.name.size(), server.name); });
  return servers;
}

Layout twemproxy_ketama(OptionReader& options, std::span<const PlacedNode> nodes) {
  if (!options.fits(ketama_points_max(nodes.size()))) return {};
  const std::vector<std::uint32_t> counts = ketama_counts(nodes);
  std::vector<CirclePoint> points;
  for (const Server& server : sorted_servers(options, nodes)) {
    add_md5_points({server.name, counts[server.node], server.node}, points);
  }
  return circle_layout(key_to_token(read_hash(options)), std::move(points), {});
}

Layout twemproxy_modula(OptionReader& options, std::span<const PlacedNode> nodes) {
  if (!options.fits(weight_sum(nodes))) return {};
  std::vector<std::uint32_t> table;
  for (const Server& server : sorted_servers(options, nodes)) {
    table.insert(table.end(), nodes[server.node].weight, server.node);
  }
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
  return {{{"twemproxy-ketama", "twemproxy 0.5.0", {hash, tag, named}}, twemproxy_ketama},
          {{"twemproxy-modula", "twemproxy 0.5.0", {hash, tag, named}}, twemproxy_modula}};
}

}  // namespace cleave::ring
