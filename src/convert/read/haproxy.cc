// HAProxy 2.6: the `backend` and `listen` sections, with what the `defaults` before them say.
//
//   balance     hdr(NAME), hash EXPRESSION, uri, url_param NAME hash a key; of these url_param
//               alone hashes an empty one. All others do not place by keys.
//   hash-type   METHOD [FUNCTION [avalanche]]; without the line map-based sdbm
//   ids         a server without `id` gets the lowest free one, counted from its place in the list.
//               consistent hashes ids, which become positions; map-based does not look at them.
//   left out    a server of weight 0, a disabled and a backup server get no keys while the others
//               live, but keep their ids
//   factor      hash-balance-factor sends keys of a busy server to others, with consistent only
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/to_number.h"
#include "convert/pool/address.h"
#include "convert/pool/notes.h"
#include "convert/read/haproxy_lines.h"
#include "convert/read/haproxy_words.h"
#include "convert/read/readers.h"

namespace cleave::convert {
namespace {

constexpr std::uint32_t kIdMax = 0x7FFF'FFFFU;

// A server as far as it is read.
struct Server {
  std::string name;
  std::string address;
  std::uint32_t weight = 1;
  std::uint32_t id = 0;  // 0: none given
  bool backup = false;
  bool disabled = false;
  std::size_t line = 0;
  std::string unused;  // words that have no counterpart
};

// What a section says, or inherits from the `defaults` before it.
struct Settings {
  HaproxyLine balance;
  HaproxyLine hash_type;
  HaproxyLine factor;
  std::vector<HaproxyLine> server_defaults;
  std::vector<HaproxyLine> others;
  std::set<std::string> harmless;  // first words of what `defaults` say and no key is placed by
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Takes the line into the settings if it is one that later sections inherit.
void take_setting(const HaproxyLine& line, Settings& settings) {
  const std::string& word = line.words.front();
  if (word == "balance") {
    settings.balance = line;
  } else if (word == "hash-type") {
    settings.hash_type = line;
  } else if (word == "hash-balance-factor") {
    settings.factor = line;
  } else if (word == "default-server") {
    settings.server_defaults.push_back(line);
  } else {
    settings.others.push_back(line);
  }
}

std::string word_at(const HaproxyLine& line, std::size_t at) {
  return at < line.words.size() ? line.words[at] : std::string();
}

HaproxyWord word_of(const HaproxyLine& line) {
  const std::string& word = line.words.front();
  return word == "option" ? haproxy_option(word_at(line, 1)) : haproxy_directive(word);
}

class BackendReader {
 public:
  BackendReader(const std::string& file, const std::string& name) : notes_(file, name) {
    pool_.name = name;
    pool_.kind = Kind::kCache;
    pool_.scheme.name = "haproxy";
  }

  // `inherited` is what the defaults say; the section's own lines come after it.
  Result<Pool> read(const HaproxySection& section, Settings inherited) && {
    std::vector<HaproxyLine> server_lines;
    for (const HaproxyLine& line : section.lines) {
      if (line.words.front() == "server") {
        server_lines.push_back(line);
      } else {
        take_setting(line, inherited);
      }
    }
    if (const auto why = why_not_placed(inherited.balance, section.head.line))
      return std::unexpected(*why);
    read_balance(inherited.balance);
    read_hash_type(inherited.hash_type);
    read_factor(inherited.factor);
    for (const HaproxyLine& line : inherited.others) read_other(line);
    remark_defaults(inherited.harmless);
    for (const HaproxyLine& line : server_lines) read_server(line, inherited.server_defaults);
    number_servers();
    add_nodes();
    return std::move(notes_).finish(std::move(pool_));
  }

 private:
  std::optional<Error> why_not_placed(const HaproxyLine& balance, std::size_t section_line) {
    if (balance.words.empty())
      return notes_.not_placed(section_line, "no 'balance': HAProxy takes servers in turn");
    const std::string method = word_at(balance, 1);
    const std::string word = method.substr(0, method.find('('));
    if (word == "hdr" || word == "hash" || word == "uri" || word == "url_param") return {};
    return notes_.not_placed(balance.line, "balance " + method + " does not place by a key");
  }

  void read_balance(const HaproxyLine& balance) {
    const std::vector<std::string> words(balance.words.begin() + 1, balance.words.end());
    if (word_at(balance, 1) == "url_param") pool_.scheme.options["place_empty"] = "true";
    notes_.remark(balance.line,
                  "HAProxy places each request by '" + joined(words) +
                      "', cleave each command by its key; these servers are those of an HTTP "
                      "proxy, and cleave speaks Redis");
  }

  void read_hash_type(const HaproxyLine& line) {
    auto& options = pool_.scheme.options;
    options["method"] = "map-based";
    if (line.words.empty()) return;
    const std::string method = word_at(line, 1);
    if (method != "map-based" && method != "consistent")
      return notes_.refuse(line.line, "hash-type: '" + method + "' is unknown");
    options["method"] = method;
    const std::string modifier = word_at(line, 3);
    if (line.words.size() > 4 || (!modifier.empty() && modifier != "avalanche"))
      return notes_.refuse(line.line, "want: hash-type METHOD [FUNCTION [avalanche]]");
    if (const std::string function = word_at(line, 2); !function.empty()) {
      options["hash"] = function;
      options["avalanche"] = modifier.empty() ? "false" : "true";
    }
  }

  void read_factor(const HaproxyLine& line) {
    const std::string factor = word_at(line, 1);
    if (factor.empty() || factor == "0") return;
    if (pool_.scheme.options["method"] == "map-based") {
      return notes_.remark(line.line, "hash-balance-factor has no effect with map-based");
    }
    notes_.refuse(line.line, "hash-balance-factor " + factor +
                                 " sends keys of a busy server to others, so their place changes "
                                 "with load; remove the line");
  }

  void read_other(const HaproxyLine& line) {
    const HaproxyWord known = word_of(line);
    const std::string text = "'" + joined(line.words) + "'";
    switch (known.effect) {
      case HaproxyEffect::kNone:
        return notes_.remark(line.line, text + " is not taken over; it places no key");
      case HaproxyEffect::kMoves:
        return notes_.refuse(line.line, text + ": " + std::string(known.why) + "; remove the line");
      case HaproxyEffect::kUnknown:
        return notes_.refuse(line.line, text +
                                            " may place keys, and cleave does not know it; "
                                            "remove the line if it does not");
    }
  }

  void remark_defaults(const std::set<std::string>& words) {
    if (words.empty()) return;
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
    notes_.remark(0, all + " of 'defaults' are not taken over; they place no key");
  }

  void read_server(const HaproxyLine& line, const std::vector<HaproxyLine>& defaults) {
    Server server{.name = word_at(line, 1), .address = {}, .line = line.line, .unused = {}};
    for (const HaproxyLine& each : defaults) read_parameters(each, 1, server);
    read_parameters(line, 3, server);
    if (!server.unused.empty()) {
      notes_.remark(line.line, "server " + server.name + ":" + server.unused +
                                   ": not taken over; HAProxy sends keys of a failing server to "
                                   "others, in cleave they are errors until it is back");
    }
    std::string address = word_at(line, 2);
    for (const std::string_view prefix : {"ipv4@", "ipv6@", "tcp@", "tcp4@", "tcp6@"}) {
      if (address.starts_with(prefix)) address.erase(0, prefix.size());
    }
    const Result<std::string> parsed = read_address(address);
    if (!parsed) {
      notes_.refuse(line.line, "server " + server.name + ": " + parsed.error().message +
                                   " (cleave reaches servers by TCP only)");
      return;
    }
    server.address = *parsed;
    servers_.push_back(std::move(server));
  }

  void read_parameters(const HaproxyLine& line, std::size_t at, Server& server) {
    while (at < line.words.size()) {
      const std::string& word = line.words[at++];
      if (word == "weight" || word == "id") {
        read_number(line, word, word_at(line, at++), server);
      } else if (word == "backup") {
        server.backup = true;
      } else if (word == "disabled") {
        server.disabled = true;
      } else {
        if (word == "no-backup") server.backup = false;
        if (word == "enabled") server.disabled = false;
        const HaproxyWord known = haproxy_parameter(word);
        const std::string text = "server " + server.name + ": '" + word + "'";
        if (known.effect == HaproxyEffect::kMoves) {
          notes_.refuse(line.line, text + ": " + std::string(known.why) + "; remove it");
        } else if (known.effect == HaproxyEffect::kUnknown) {
          return notes_.refuse(line.line, text + " is unknown");
        }
        server.unused += " " + word;
        at += known.arguments;
      }
    }
  }

  void read_number(const HaproxyLine& line, const std::string& word, const std::string& text,
                   Server& server) {
    const auto number = to_number<std::uint32_t>(text);
    if (!number || (word == "weight" && *number > 256) ||
        (word == "id" && (*number == 0 || *number > kIdMax))) {
      return notes_.refuse(line.line, "server " + server.name + ": '" + text + "' is no " + word);
    }
    (word == "weight" ? server.weight : server.id) = *number;
  }

  // As HAProxy numbers them.
  void number_servers() {
    std::set<std::uint32_t> used;
    for (const Server& server : servers_) {
      if (server.id != 0 && !used.insert(server.id).second) {
        notes_.refuse(server.line, "server " + server.name + ": id " + std::to_string(server.id) +
                                       " is there twice");
      }
    }
    std::uint32_t next = 1;
    for (Server& server : servers_) {
      if (server.id == 0) {
        while (used.contains(next)) ++next;
        server.id = next;
        used.insert(next);
      }
      ++next;
    }
  }

  bool is_left_out(const Server& server) {
    if (!server.backup && !server.disabled && server.weight > 0) return false;
    const std::string why = server.disabled ? "is disabled"
                            : server.backup ? "is a backup"
                                            : "has weight 0";
    notes_.remark(server.line, "server " + server.name + " " + why +
                                   " and gets no keys: it is left out; if HAProxy were to use it, "
                                   "keys would move");
    return true;
  }

  void add_nodes() {
    std::erase_if(servers_, [this](const Server& server) { return is_left_out(server); });
    if (servers_.empty()) notes_.refuse(0, "no servers that get keys");
    const bool by_id = pool_.scheme.options["method"] == "consistent";
    if (by_id) std::ranges::stable_sort(servers_, {}, &Server::id);
    for (const Server& server : servers_) {
      PoolNode& added = pool_.nodes.emplace_back(server.name, server.weight);
      added.members = {server.address};
      if (by_id) added.position = server.id - 1;
    }
  }

  Notes notes_;
  Pool pool_;
  std::vector<Server> servers_;
};

// The settings of each `defaults` section, by name; the last one counts where none is named.
class DefaultsBook {
 public:
  void add(const HaproxySection& section) {
    last_ = from(section.head, {});
    for (const HaproxyLine& line : section.lines) take_setting(line, last_);
    std::erase_if(last_.others, [this](const HaproxyLine& line) { return is_harmless(line); });
    by_name_[word_at(section.head, 1)] = last_;
  }

  // What "backend NAME from DEFAULTS" inherits.
  Settings of(const HaproxySection& section) const { return from(section.head, last_); }

 private:
  // Of defaults these are told once, not line by line.
  bool is_harmless(const HaproxyLine& line) {
    if (word_of(line).effect != HaproxyEffect::kNone) return false;
    last_.harmless.insert(line.words.front());
    return true;
  }

  Settings from(const HaproxyLine& head, const Settings& otherwise) const {
    const auto word = std::ranges::find(head.words, "from");
    if (word == head.words.end() || std::next(word) == head.words.end()) return otherwise;
    const auto named = by_name_.find(*std::next(word));
    return named == by_name_.end() ? otherwise : named->second;
  }

  Settings last_;
  std::map<std::string, Settings> by_name_;
};

}  // namespace

FoundPools read_haproxy(std::string_view text, const std::string& file) {
  const auto sections = parse_haproxy(text, file);
  if (!sections) return std::unexpected(sections.error());
  std::vector<FoundPool> found;
  DefaultsBook defaults;
  for (const HaproxySection& section : *sections) {
    const std::string& kind = section.head.words.front();
    if (kind == "defaults") defaults.add(section);
    if (kind != "backend" && kind != "listen") continue;
    const std::string name = word_at(section.head, 1);
    found.push_back({name, BackendReader(file, name).read(section, defaults.of(section))});
  }
  if (found.empty()) return fail(Code::kInvalid, at_line(file, 0, "no 'backend' or 'listen'"));
  return found;
}

}  // namespace cleave::convert
