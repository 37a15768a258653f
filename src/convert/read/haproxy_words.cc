#include "convert/read/haproxy_words.h"

#include <algorithm>
#include <array>

namespace cleave::convert {
namespace {

struct Moving {
  std::string_view word;
  std::string_view why;
};

constexpr std::array<Moving, 13> kMovingDirectives = {
    {{"stick", "a stick table decides before the hash does"},
     {"cookie", "a cookie decides before the hash does"},
     {"appsession", "a cookie decides before the hash does"},
     {"persist", "a cookie decides before the hash does"},
     {"force-persist", "a cookie decides before the hash does"},
     {"ignore-persist", "it is about cookies that decide before the hash does"},
     {"use-server", "a rule decides before the hash does"},
     {"dispatch", "all requests go to one address"},
     {"server-template", "its servers come from DNS; write them out as 'server' lines"},
     {"load-server-state-from-file", "weights may come from that file"},
     {"hash-preserve-affinity", "keys of a full server go to others"},
     {"disabled", "the section is switched off"},
     {"transparent", "the client's own address decides"}}};

constexpr std::array<std::string_view, 59> kHarmlessDirectives = {"acl",
                                                                  "bind",
                                                                  "bind-process",
                                                                  "capture",
                                                                  "clitcpka-cnt",
                                                                  "clitcpka-idle",
                                                                  "clitcpka-intvl",
                                                                  "compression",
                                                                  "declare",
                                                                  "default_backend",
                                                                  "description",
                                                                  "email-alert",
                                                                  "enabled",
                                                                  "error-log-format",
                                                                  "errorfile",
                                                                  "errorfiles",
                                                                  "errorloc",
                                                                  "errorloc302",
                                                                  "errorloc303",
                                                                  "external-check",
                                                                  "filter",
                                                                  "fullconn",
                                                                  "grace",
                                                                  "guid",
                                                                  "http-after-response",
                                                                  "http-check",
                                                                  "http-error",
                                                                  "http-request",
                                                                  "http-response",
                                                                  "http-reuse",
                                                                  "http-send-name-header",
                                                                  "id",
                                                                  "log",
                                                                  "log-format",
                                                                  "log-format-sd",
                                                                  "log-tag",
                                                                  "max-keep-alive-queue",
                                                                  "max-session-srv-conns",
                                                                  "maxconn",
                                                                  "mode",
                                                                  "monitor",
                                                                  "monitor-uri",
                                                                  "no",
                                                                  "rate-limit",
                                                                  "redirect",
                                                                  "retries",
                                                                  "retry-on",
                                                                  "server-state-file-name",
                                                                  "source",
                                                                  "srvtcpka-cnt",
                                                                  "srvtcpka-idle",
                                                                  "srvtcpka-intvl",
                                                                  "stats",
                                                                  "stick-table",
                                                                  "tcp-check",
                                                                  "tcp-request",
                                                                  "tcp-response",
                                                                  "timeout",
                                                                  "use_backend"};

constexpr std::array<std::string_view, 2> kMovingOptions = {"transparent", "http_proxy"};

constexpr std::array<Moving, 5> kMovingServerParameters = {
    {{"agent-check", "an agent changes the weight"},
     {"slowstart", "its share of keys changes after a start"},
     {"maxqueue", "keys of a full server go to others"},
     {"redir", "clients are sent elsewhere"},
     {"hash-key", "cleave knows servers that are hashed by their id only"}}};

// Words of a server with nothing behind them, and with one word.
constexpr std::array<std::string_view, 35> kFlags = {"allow-0rtt",
                                                     "check",
                                                     "check-send-proxy",
                                                     "check-via-socks4",
                                                     "enabled",
                                                     "force-sslv3",
                                                     "force-tlsv10",
                                                     "force-tlsv11",
                                                     "force-tlsv12",
                                                     "force-tlsv13",
                                                     "no-agent-check",
                                                     "no-backup",
                                                     "no-check",
                                                     "no-check-ssl",
                                                     "no-send-proxy",
                                                     "no-send-proxy-v2",
                                                     "no-ssl",
                                                     "no-ssl-reuse",
                                                     "no-sslv3",
                                                     "no-tls-tickets",
                                                     "no-tlsv10",
                                                     "no-tlsv11",
                                                     "no-tlsv12",
                                                     "no-tlsv13",
                                                     "no-verifyhost",
                                                     "non-stick",
                                                     "send-proxy",
                                                     "send-proxy-v2",
                                                     "send-proxy-v2-ssl",
                                                     "send-proxy-v2-ssl-cn",
                                                     "ssl",
                                                     "ssl-reuse",
                                                     "tfo",
                                                     "tls-tickets",
                                                     "check-ssl"};

constexpr std::array<std::string_view, 55> kWithValue = {"addr",
                                                         "alpn",
                                                         "agent-addr",
                                                         "agent-inter",
                                                         "agent-port",
                                                         "agent-send",
                                                         "ca-file",
                                                         "check-alpn",
                                                         "check-proto",
                                                         "check-sni",
                                                         "ciphers",
                                                         "ciphersuites",
                                                         "cookie",
                                                         "crl-file",
                                                         "crt",
                                                         "curves",
                                                         "downinter",
                                                         "error-limit",
                                                         "fall",
                                                         "fastinter",
                                                         "guid",
                                                         "init-addr",
                                                         "init-state",
                                                         "inter",
                                                         "log-proto",
                                                         "max-reuse",
                                                         "maxconn",
                                                         "minconn",
                                                         "namespace",
                                                         "npn",
                                                         "observe",
                                                         "on-error",
                                                         "on-marked-down",
                                                         "on-marked-up",
                                                         "pool-low-conn",
                                                         "pool-max-conn",
                                                         "pool-purge-delay",
                                                         "port",
                                                         "proto",
                                                         "proxy-v2-options",
                                                         "resolve-net",
                                                         "resolve-opts",
                                                         "resolve-prefer",
                                                         "resolvers",
                                                         "rise",
                                                         "shard",
                                                         "sni",
                                                         "source",
                                                         "ssl-max-ver",
                                                         "ssl-min-ver",
                                                         "tcp-ut",
                                                         "track",
                                                         "verify",
                                                         "verifyhost",
                                                         "ws"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

template <class Words>
const Moving* find(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words, word, &Moving::word);
  return found == words.end() ? nullptr : &*found;
}

}  // namespace

HaproxyWord haproxy_directive(std::string_view word) {
  if (const Moving* moving = find(kMovingDirectives, word))
    return {HaproxyEffect::kMoves, moving->why};
  if (contains(kHarmlessDirectives, word)) return {HaproxyEffect::kNone};
  return {};
}

HaproxyWord haproxy_option(std::string_view word) {
  if (contains(kMovingOptions, word))
    return {HaproxyEffect::kMoves, "the client's own address decides"};
  return {HaproxyEffect::kNone};
}

HaproxyWord haproxy_parameter(std::string_view word) {
  if (const Moving* moving = find(kMovingServerParameters, word))
    return {HaproxyEffect::kMoves, moving->why};
  if (contains(kFlags, word)) return {HaproxyEffect::kNone};
  if (contains(kWithValue, word)) return {HaproxyEffect::kNone, {}, 1};
  return {};
}

}  // namespace cleave::convert
