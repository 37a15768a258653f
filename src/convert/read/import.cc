#include "convert/read/import.h"

#include <algorithm>
#include <array>
#include <utility>

#include "convert/pool/notes.h"
#include "convert/read/readers.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

// The line without its comment and the blanks around it.
std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (const auto line = trimmed(text.substr(0, end)); !line.empty()) lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

bool mentions_envoy(std::string_view text) {
  return text.contains("static_resources") || text.contains("staticResources");
}

std::string_view first_word(std::string_view line) {
  return line.substr(0, line.find_first_of(" \t"));
}

bool is_haproxy_line(std::string_view line) {
  static constexpr std::array<std::string_view, 5> kFirstWords = {"global", "defaults", "frontend",
                                                                  "backend", "listen"};
  return std::ranges::find(kFirstWords, first_word(line)) != kFirstWords.end() &&
         line.find_first_of(";{") == std::string_view::npos;
}

bool is_nginx_line(std::string_view line) {
  return first_word(line) == "upstream" || line.ends_with(';');
}

bool any_contains(const std::vector<std::string_view>& lines, std::string_view text) {
  return std::ranges::any_of(lines, [text](std::string_view line) { return line.contains(text); });
}

std::optional<Peer> peer_of_json(std::string_view text, std::string_view first_line) {
  if (first_line.starts_with('[')) return Peer::kCodis;
  if (first_line.starts_with('{')) return mentions_envoy(text) ? Peer::kEnvoy : Peer::kCodis;
  return std::nullopt;
}

FoundPools read_pools(Peer peer, std::string_view text, const std::string& file) {
  switch (peer) {
    case Peer::kTwemproxy: return read_twemproxy(text, file);
    case Peer::kNginx: return read_nginx(text, file);
    case Peer::kHaproxy: return read_haproxy(text, file);
    case Peer::kEnvoy: return read_envoy(text, file);
    case Peer::kCodis: break;
  }
  return read_codis(text, file);
}

std::string names_of(const std::vector<FoundPool>& found) {
  std::string names;
  for (const FoundPool& each : found) names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

Result<std::vector<FoundPool>> chosen(std::vector<FoundPool> found, const ImportOptions& options) {
  if (options.pool.empty()) return found;
  for (FoundPool& each : found) {
    if (each.name == options.pool) return std::vector<FoundPool>{std::move(each)};
  }
  return fail(Code::kNotFound,
              at_line(options.file, 0,
                      "there is no pool '" + options.pool + "'; there are: " + names_of(found)));
}

// One text of several reasons.
void add_line(std::string& all, const std::string& line) {
  all += (all.empty() ? "" : "\n") + line;
}

}  // namespace

Result<Peer> recognise(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  if (!lines.empty()) {
    if (const auto peer = peer_of_json(text, lines.front())) return *peer;
    if (mentions_envoy(text)) return Peer::kEnvoy;
    if (std::ranges::any_of(lines, is_haproxy_line)) return Peer::kHaproxy;
    if (std::ranges::any_of(lines, is_nginx_line)) return Peer::kNginx;
    // cleave's own configuration has servers and listeners.
    if (any_contains(lines, "servers:") && any_contains(lines, "listen:")) return Peer::kTwemproxy;
  }
  return fail(Code::kInvalid,
              "this is no configuration of twemproxy, nginx, HAProxy or Envoy, and no Codis slot "
              "table; if it is one, say which with --from");
}

Result<Imported> import_pools(std::string_view text, const ImportOptions& options) {
  const Result<Peer> peer = options.from ? Result<Peer>(*options.from) : recognise(text);
  if (!peer) return fail(options.file, peer.error());
  auto all = read_pools(*peer, text, options.file);
  if (!all) return std::unexpected(all.error());
  auto found = chosen(std::move(*all), options);
  if (!found) return std::unexpected(found.error());

  Imported imported{.from = *peer, .pools = {}, .passed_over = {}};
  std::string refusals;
  for (FoundPool& each : *found) {
    if (each.pool) {
      imported.pools.push_back(std::move(*each.pool));
    } else if (each.pool.error().code == Code::kNotFound) {
      imported.passed_over.push_back(each.pool.error().message);
    } else {
      add_line(refusals, each.pool.error().message);
    }
  }
  if (refusals.empty() && imported.pools.empty()) {
    for (const std::string& why : imported.passed_over) add_line(refusals, why);
    add_line(refusals, at_line(options.file, 0, "no pool is placed by keys"));
  }
  if (!refusals.empty()) return fail(Code::kInvalid, refusals);
  return imported;
}

}  // namespace cleave::convert
