// nginx 1.22.1, upstream `hash KEY` (plain) and `hash KEY consistent`.
//
//   consistent   160 points a weight: CRC-32 of host, a zero byte, port and the previous point of
//                that server as four bytes, little endian (0 before the first). Host and port as
//                the configuration writes them, the port empty if it has none. Key: CRC-32.
//   plain        bits 16..30 of the key's CRC-32, mod the sum of weights, walked through in order
//   empty key    round robin
//   tie          the server that stands first
#include <array>

#include "ring/schemes/hashes/crc.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kPointsPerWeight160 = 160;
constexpr std::string_view kUnixPrefix = "unix:";

enum class NginxMethod : std::uint8_t { kPlain, kConsistent };

constexpr std::array<Choice<NginxMethod>, 2> kNginxMethods = {
    {{"plain", NginxMethod::kPlain}, {"consistent", NginxMethod::kConsistent}}};

// CRC-32 of what all points of a server begin with.
std::uint32_t crc_of_server(std::string_view name) {
  HostPort parts = host_port(name);
  // A socket's path has no port, whatever it ends in.
  if (name.starts_with(kUnixPrefix)) parts = {name.substr(kUnixPrefix.size()), {}};
  const std::string text = std::string(parts.host) + '\0' + std::string(parts.port);
  return crc32(text);
}

std::uint32_t next_point(std::uint32_t server, std::uint32_t previous) {
  std::array<char, 4> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(previous >> (8 * i) & 0xFFU);
  }
  return crc32({bytes.data(), bytes.size()}, server);
}

void add_points(const PlacedNode& node, std::uint32_t index, std::vector<CirclePoint>& points) {
  const std::uint32_t server = crc_of_server(node.name);
  std::uint32_t point = 0;
  for (std::uint32_t j = 0; j < kPointsPerWeight160 * node.weight; ++j) {
    point = next_point(server, point);
    points.push_back({point, index});
  }
}

Layout consistent(OptionReader& options, std::span<const PlacedNode> nodes) {
  if (!options.fits(kPointsPerWeight160 * weight_sum(nodes))) return {};
  return {.token_of = key_token_32([](std::string_view key) { return crc32(key); }),
          .owners = NodeCircle{.add_points = add_points, .points_per_weight = kPointsPerWeight160}};
}

Layout plain(OptionReader& options, std::span<const PlacedNode> nodes) {
  const std::vector<std::uint32_t> table = weighted_table(options, nodes);
  if (table.empty()) return {};
  return table_layout(crc32_upper_15, table, Tokens::kOfNodes);
}

Layout nginx(OptionReader& options, std::span<const PlacedNode> nodes) {
  const NginxMethod method = options.choice<NginxMethod>("method", kNginxMethods);
  return without_empty_key(method == NginxMethod::kPlain ? plain(options, nodes)
                                                         : consistent(options, nodes));
}

}  // namespace

std::vector<SchemeRow> nginx_schemes() {
  return {{{"nginx", "nginx 1.22.1", {{"method", "plain (default), consistent"}}}, nginx}};
}

}  // namespace cleave::ring
