#include "app/config/config_drift.h"

#include <algorithm>

#include "base/shown.h"

namespace cleave::app {
namespace {

// Of an option: tokens and tables may be very long.
constexpr std::size_t kValueShown = 40;

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

std::string scheme_text(const ring::SchemeSpec& scheme) {
  std::string text = scheme.name;
  for (const auto& [name, value] : scheme.options) {
    text += ", " + name + ": " + shortened(value, kValueShown);
  }
  return text;
}

std::string members_text(const std::vector<ring::Member>& members) {
  std::string text;
  for (const ring::Member& member : members) text += (text.empty() ? "" : " ") + member.address;
  return text;
}

std::string racks_text(const std::vector<ring::Member>& members) {
  std::string text;
  for (const ring::Member& member : members) text += (text.empty() ? "" : " ") + member.rack;
  return text;
}

void compare_node(const ring::Node& file, const ring::Node& ring,
                  std::vector<std::string>& ignored) {
  const std::string node = "node " + file.name;
  if (file.weight != ring.weight) {
    ignored.push_back(node + ": weight " + std::to_string(file.weight) +
                      " of the file is ignored, the ring has " + std::to_string(ring.weight) +
                      "; to change it: cleave node weight " + file.name + " " +
                      std::to_string(file.weight));
  }
  if (members_text(file.members) != members_text(ring.members)) {
    ignored.push_back(node + ": address " + members_text(file.members) +
                      " of the file is ignored, the ring has " + members_text(ring.members) +
                      "; to go to another server: cleave node add NAME " +
                      members_text(file.members) + ", then cleave node drain " + file.name);
  }
  if (racks_text(file.members) != racks_text(ring.members)) {
    ignored.push_back(node + ": rack '" + racks_text(file.members) +
                      "' of the file is ignored, the ring has '" + racks_text(ring.members) +
                      "'; it can only be set when a node is added");
  }
  if (file.hash_key != ring.hash_key) {
    ignored.push_back(node + ": hash_key " + in_quotes(file.hash_key) +
                      " of the file is ignored, the ring has " + in_quotes(ring.hash_key) +
                      "; it can only be set when a node is added: cleave node add --hash-key");
  }
}

void compare_nodes(const std::vector<ring::Node>& file, const std::vector<ring::Node>& ring,
                   std::vector<std::string>& ignored) {
  for (const ring::Node& node : file) {
    const auto found = std::ranges::find(ring, node.name, &ring::Node::name);
    if (found == ring.end()) {
      ignored.push_back(
          "node " + node.name + " of the file is ignored, the ring does not have it;" +
          " to add it: cleave node add " + node.name + " " + members_text(node.members));
    } else {
      compare_node(node, *found, ignored);
    }
  }
  for (const ring::Node& node : ring) {
    if (std::ranges::find(file, node.name, &ring::Node::name) != file.end()) continue;
    ignored.push_back("node " + node.name +
                      " is in the ring, and not in the file: write it into the file, or let it "
                      "go with: cleave node drain " +
                      node.name);
  }
}

}  // namespace

std::vector<std::string> ignored_settings(const Config& config, const ring::Document& document) {
  std::vector<std::string> ignored;
  if (config.pool.scheme != document.scheme) {
    ignored.push_back("ring: " + scheme_text(config.pool.scheme) +
                      " of the file is ignored, keys are placed by " +
                      scheme_text(document.scheme) +
                      "; another scheme would need every key to move: make a new pool");
  }
  compare_nodes(config.pool.nodes, document.nodes, ignored);
  if (config.balance.mode != document.mode) {
    const std::string mode(ring::to_string(config.balance.mode));
    ignored.push_back("balance.mode: " + mode + " of the file is ignored, the mode is " +
                      std::string(ring::to_string(document.mode)) + "; to change it: cleave mode " +
                      mode);
  }
  return ignored;
}

}  // namespace cleave::app
