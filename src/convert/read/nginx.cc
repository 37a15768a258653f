// nginx 1.22: the `upstream` blocks of http{}, stream{} or a fragment that is included there.
//
//   hash KEY [consistent]   the method; without it an upstream is not placed by keys. nginx warns
//                           about a second method and takes the last; here that is refused.
//   server ADDRESS ...      hashed is the address as it is written; the port that a connection
//                           takes without one is 80
//   down, max_conns         keys of such a server go to others; `backup` nginx itself refuses
//   unknown                 whatever else stands in such a block may place keys, so it is refused
#include <algorithm>
#include <array>
#include <optional>

#include "base/to_number.h"
#include "convert/pool/address.h"
#include "convert/pool/notes.h"
#include "convert/read/nginx_tree.h"
#include "convert/read/readers.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kHttpPort = "80";

// A directive, or a parameter of a server, and what becomes of it.
struct Known {
  std::string_view name;
  std::string_view text;
};

constexpr std::array<Known, 6> kHarmless = {
    {{"keepalive", "cleave has one pipelined connection a worker and server"},
     {"keepalive_requests", "cleave keeps its connections"},
     {"keepalive_time", "cleave keeps its connections"},
     {"keepalive_timeout", "cleave keeps its connections"},
     {"zone", "cleave's workers share one ring"},
     {"resolver", "cleave resolves names when it connects"}}};

constexpr std::array<Known, 7> kOtherMethods = {{{"ip_hash", "hashes addresses of clients"},
                                                 {"least_conn", "prefers idle servers"},
                                                 {"least_time", "prefers fast servers"},
                                                 {"random", "picks at random"},
                                                 {"sticky", "follows a cookie"},
                                                 {"sticky_cookie_insert", "follows a cookie"},
                                                 {"fair", "prefers idle servers"}}};

constexpr std::array<Known, 3> kHarmlessParameters = {
    {{"max_fails",
      "nginx sends the keys of a failing server elsewhere; in cleave they are errors "
      "until it is back"},
     {"fail_timeout", "cleave probes a server until it is back"},
     {"resolve", "cleave resolves a name when it connects"}}};

constexpr std::array<Known, 7> kMovingParameters = {
    {{"down",
      "nginx sends its keys to others; remove the line if it is gone for good, or bring it "
      "back first"},
     {"backup", "it would serve the keys of servers that fail; remove the line"},
     {"max_conns", "above it keys go to other servers; remove it"},
     {"slow_start", "its share of keys would change with time; remove it"},
     {"drain", "only keys that it has already would stay; remove the line or the word"},
     {"route", "a route decides before the hash does; remove it"},
     {"service", "the addresses come from DNS records, which the file does not have"}}};

template <std::size_t size>
const Known* find(const std::array<Known, size>& known, std::string_view name) {
  const auto found = std::ranges::find(known, name, &Known::name);
  return found == known.end() ? nullptr : &*found;
}

class UpstreamReader {
 public:
  UpstreamReader(const std::string& file, const std::string& name) : notes_(file, name) {
    pool_.name = name;
    pool_.kind = Kind::kCache;
    pool_.scheme.name = "nginx";
  }

  Result<Pool> read(const NginxDirective& upstream) && {
    const auto hash = std::ranges::find(upstream.block, "hash", &NginxDirective::name);
    if (hash == upstream.block.end()) {
      return std::unexpected(
          notes_.not_placed(upstream.line, "no 'hash' directive: nginx does not place it by keys"));
    }
    for (const NginxDirective& directive : upstream.block) read_directive(directive);
    if (pool_.nodes.empty()) notes_.refuse(upstream.line, "no servers");
    return std::move(notes_).finish(std::move(pool_));
  }

 private:
  void read_directive(const NginxDirective& directive) {
    const std::string& name = directive.name();
    if (name == "server") return read_server(directive);
    if (name == "hash") return read_hash(directive);
    if (const Known* other = find(kOtherMethods, name)) {
      notes_.refuse(directive.line, name + " beside hash: it " + std::string(other->text) +
                                        "; nginx takes the last of them, keep one");
    } else if (const Known* harmless = find(kHarmless, name)) {
      notes_.remark(directive.line, name + " is not taken over: " + std::string(harmless->text));
    } else if (name == "include") {
      notes_.refuse(directive.line,
                    "include: it may hold servers; `nginx -T` prints everything in one");
    } else {
      notes_.refuse(directive.line, "'" + name +
                                        "' may place keys, and cleave does not know it; "
                                        "remove it if it does not");
    }
  }

  void read_hash(const NginxDirective& directive) {
    if (!key_.empty()) return notes_.refuse(directive.line, "'hash' is there twice");
    const std::size_t words = directive.words.size();
    const bool consistent = words == 3 && directive.words[2] == "consistent";
    if (words < 2 || (words > 2 && !consistent))
      return notes_.refuse(directive.line, "want: hash KEY [consistent]");
    key_ = directive.words[1];
    pool_.scheme.options["method"] = consistent ? "consistent" : "plain";
    notes_.remark(directive.line,
                  "nginx places each request by '" + key_ +
                      "', cleave each command by its key; these servers are those of an HTTP or "
                      "stream proxy, and cleave speaks Redis");
  }

  void read_server(const NginxDirective& directive) {
    if (directive.words.size() < 2) return notes_.refuse(directive.line, "server: no address");
    PoolNode node{.name = directive.words[1], .weight = 1, .members = {}};
    const std::optional<std::string> address = read_server_address(node.name, directive.line);
    for (std::size_t i = 2; i < directive.words.size(); ++i)
      read_parameter(directive.words[i], directive.line, node);
    if (!address) return;
    node.members.push_back(*address);
    pool_.nodes.push_back(std::move(node));
  }

  std::optional<std::string> read_server_address(const std::string& text, std::size_t line) {
    if (text.starts_with("unix:")) {
      notes_.refuse(line, "server " + text + ": cleave reaches servers by TCP only");
      return std::nullopt;
    }
    // "[::1]" ends in no port.
    const std::size_t colon = text.ends_with(']') ? std::string::npos : text.rfind(':');
    const Result<std::string> address =
        colon == std::string::npos ? join_address(text, kHttpPort)
                                   : join_address(text.substr(0, colon), text.substr(colon + 1));
    if (!address) {
      notes_.refuse(line, "server " + address.error().message);
      return std::nullopt;
    }
    if (!is_numeric_host(*address)) {
      notes_.remark(line, "server " + text +
                              ": if the name has several addresses, nginx spreads its keys over "
                              "them; cleave takes one");
    }
    return *address;
  }

  void read_parameter(const std::string& word, std::size_t line, PoolNode& node) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (name == "weight") {
      const auto weight = to_number<std::uint32_t>(value);
      if (!weight || *weight == 0)
        return notes_.refuse(line, "server " + node.name + ": weight '" + value + "' is no weight");
      node.weight = *weight;
    } else if (name == "max_conns" && value == "0") {
      return;  // the default: no bound
    } else if (const Known* moving = find(kMovingParameters, name)) {
      notes_.refuse(line, "server " + node.name + ": " + name + ": " + std::string(moving->text));
    } else if (const Known* harmless = find(kHarmlessParameters, name)) {
      notes_.remark(line, "server " + node.name + ": " + word +
                              " is not taken over: " + std::string(harmless->text));
    } else {
      notes_.refuse(line, "server " + node.name + ": '" + word + "' is unknown");
    }
  }

  Notes notes_;
  Pool pool_;
  std::string key_;
};

void find_upstreams(const std::vector<NginxDirective>& directives, const std::string& file,
                    std::vector<FoundPool>& found) {
  for (const NginxDirective& directive : directives) {
    if (directive.name() == "upstream" && directive.words.size() == 2) {
      const std::string& name = directive.words[1];
      found.push_back({name, UpstreamReader(file, name).read(directive)});
    } else if (directive.name() == "http" || directive.name() == "stream") {
      find_upstreams(directive.block, file, found);
    }
  }
}

}  // namespace

FoundPools read_nginx(std::string_view text, const std::string& file) {
  const auto directives = parse_nginx(text, file);
  if (!directives) return std::unexpected(directives.error());
  std::vector<FoundPool> found;
  find_upstreams(*directives, file, found);
  if (found.empty()) {
    return fail(Code::kInvalid, at_line(file, 0,
                                        "no 'upstream' block; where files are included, `nginx -T` "
                                        "prints everything in one"));
  }
  return found;
}

}  // namespace cleave::convert
