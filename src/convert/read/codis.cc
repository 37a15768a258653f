// Codis 3: the slot table, as JSON.
//
//   codis-admin --config-dump        {"slots": [...], "group": [...], "proxy": [...]}
//   the dashboard's overview         the same under "stats", groups under "group": {"models": ...}
//   a list of slots, or of both      [{"id": 0, "group_id": 1, "action": {}}, ...]
//
//   slot    {"id", "group_id", "action": {"state", "target_id"}}; group 0 is nobody. As the proxies
//           know them, {"id", "backend_addr", "migrate_from"}: then the server is the node
//   group   {"id", "servers": [{"server": "host:port"}, ...]}, the first is the master
//   key     CRC-32 of the hash tag, mod 1024 (ring/schemes/peers/slots.cc)
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/to_number.h"
#include "convert/pool/address.h"
#include "convert/pool/notes.h"
#include "convert/read/readers.h"
#include "convert/read/yaml_tree.h"

namespace cleave::convert {
namespace {

constexpr std::size_t kSlots = 1'024;
constexpr std::string_view kUsualName = "codis";

// "0-3,7" of sorted numbers.
std::string ranges_text(const std::set<std::uint32_t>& slots) {
  std::string text;
  for (auto first = slots.begin(); first != slots.end();) {
    auto last = first;
    while (std::next(last) != slots.end() && *std::next(last) == *last + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) text += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return text;
}

YAML::Node first_of(const YAML::Node& root, std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) {
    if (YAML::Node found = find_path(root, path); found.IsDefined() && found.IsSequence())
      return found;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

class TableReader {
 public:
  TableReader(const std::string& file, const std::string& name) : notes_(file, name) {
    pool_.name = name;
    pool_.scheme.name = "codis";
  }

  Result<Pool> read(const YAML::Node& root) && {
    if (root.IsSequence()) {
      read_list(root);
    } else {
      read_list(first_of(root, {"slots", "stats.slots"}));
      read_list(first_of(root, {"group", "groups", "stats.group.models"}));
      read_proxies(first_of(root, {"proxy", "stats.proxy.models"}));
    }
    count_free_slots();
    add_nodes();
    return std::move(notes_).finish(std::move(pool_));
  }

 private:
  // What one node is known by: the number of a group, else the address of a backend.
  using Owner = std::pair<std::uint32_t, std::string>;

  void read_list(const YAML::Node& list) {
    if (!list.IsDefined()) return;
    for (const YAML::Node& each : list) {
      if (find_field(each, "servers").IsDefined()) {
        read_group(each);
      } else {
        read_slot(each);
      }
    }
  }

  void read_slot(const YAML::Node& slot) {
    const std::size_t line = line_of(slot);
    const auto id = number_of(slot, "id");
    if (!id || *id >= kSlots) return notes_.refuse(line, "a slot without an id from 0 to 1023");
    if (!seen_.insert(*id).second)
      return notes_.refuse(line, "slot " + std::to_string(*id) + " is there twice");
    refuse_migration(slot, *id);
    const Owner owner = owner_of(slot);
    if (owner != Owner{}) slots_[owner].insert(*id);
  }

  Owner owner_of(const YAML::Node& slot) {
    if (const auto group = number_of(slot, "group_id"); group && *group != 0) return {*group, ""};
    const std::string backend = text_of(find_field(slot, "backend_addr"));
    if (backend.empty()) return {};
    const Result<std::string> address = read_address(backend);
    if (!address) notes_.refuse(line_of(slot), "slot: " + address.error().message);
    return address ? Owner{0, *address} : Owner{};
  }

  void refuse_migration(const YAML::Node& slot, std::uint32_t id) {
    const std::string state = text_of(find_path(slot, "action.state"));
    const std::string from = text_of(find_field(slot, "migrate_from"));
    const std::string locked = text_of(find_field(slot, "locked"));
    if (state.empty() && from.empty() && locked != "true") return;
    notes_.refuse(line_of(slot), "slot " + std::to_string(id) +
                                     " is being migrated, its keys lie on two servers; wait until "
                                     "Codis is done, and dump again");
  }

  void read_group(const YAML::Node& group) {
    const std::size_t line = line_of(group);
    const auto id = number_of(group, "id");
    if (!id || *id == 0) return notes_.refuse(line, "a group without an id");
    const std::string name = "group " + std::to_string(*id);
    if (!text_of(find_path(group, "promoting.state")).empty())
      notes_.refuse(line, name + " is promoting a server; wait until it is done, and dump again");
    std::vector<std::string> members;
    for (const YAML::Node& server : find_field(group, "servers")) {
      const std::string text =
          server.IsScalar() ? text_of(server) : text_of(find_field(server, "server"));
      const Result<std::string> address = read_address(text);
      if (address) members.push_back(*address);
      if (!address) notes_.refuse(line_of(server), name + ": " + address.error().message);
    }
    if (!groups_.emplace(*id, std::move(members)).second)
      notes_.refuse(line, name + " is there twice");
  }

  void read_proxies(const YAML::Node& proxies) {
    std::string all;
    if (!proxies.IsDefined()) return;
    for (const YAML::Node& proxy : proxies) {
      const std::string address = text_of(find_field(proxy, "proxy_addr"));
      if (!address.empty()) all += (all.empty() ? "" : ", ") + address;
    }
    if (!all.empty()) {
      notes_.remark(line_of(proxies), "clients connect to Codis' proxies at " + all +
                                          "; they must be told of cleave's listener");
    }
  }

  void count_free_slots() {
    std::size_t owned = 0;
    for (const auto& [owner, slots] : slots_) owned += slots.size();
    if (owned == 0) {
      notes_.refuse(0, "no slot belongs to a group");
    } else if (owned < kSlots) {
      notes_.remark(0, std::to_string(kSlots - owned) +
                           " slots belong to nobody: Codis answers their keys with an error, "
                           "cleave spreads them evenly over all groups");
    }
  }

  void add_nodes() {
    for (const auto& [id, members] : groups_) slots_.try_emplace(Owner{id, ""});
    std::string text;
    for (const auto& [owner, slots] : slots_) {
      const auto& [group, backend] = owner;
      PoolNode node{.name = backend, .weight = 1, .members = {backend}};
      if (backend.empty()) {
        node.name = "group-" + std::to_string(group);
        const auto found = groups_.find(group);
        node.members = found == groups_.end() ? std::vector<std::string>() : found->second;
      }
      text += (text.empty() ? "" : ";") + node.name + "=" + ranges_text(slots);
      pool_.nodes.push_back(std::move(node));
    }
    pool_.scheme.options["slots"] = text;
  }

  static std::optional<std::uint32_t> number_of(const YAML::Node& node, std::string_view key) {
    return to_number<std::uint32_t>(text_of(find_field(node, key)));
  }

  Notes notes_;
  Pool pool_;
  std::set<std::uint32_t> seen_;
  std::map<Owner, std::set<std::uint32_t>> slots_;
  std::map<std::uint32_t, std::vector<std::string>> groups_;
};

}  // namespace

FoundPools read_codis(std::string_view text, const std::string& file) {
  const Result<YAML::Node> root = load_yaml(text, file);
  if (!root) return std::unexpected(root.error());
  std::string name = text_of(find_path(*root, "model.product_name"));
  if (name.empty()) name = kUsualName;
  return std::vector<FoundPool>{{name, TableReader(file, name).read(*root)}};
}

}  // namespace cleave::convert
