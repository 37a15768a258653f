// Reads the recordings of the peers (ring/testdata/vectors) and compares placements with them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ring/edits/ring_testing.h"
#include "ring/schemes/placement.h"

namespace cleave::ring::testing {

using VectorJson = nlohmann::ordered_json;

// From the tests of any folder.
inline VectorJson read_ring_testdata(const std::string& name) {
  return VectorJson::parse(read_file(CLEAVE_SOURCE "/src/ring/testdata/" + name), nullptr, false);
}

inline VectorJson read_vectors(const std::string& name) {
  return read_ring_testdata("vectors/" + name);
}

inline std::vector<std::string> read_vector_keys() {
  return read_ring_testdata("keys.json").get<std::vector<std::string>>();
}

// "name", or ["name", weight, ...].
inline PlacedNode placed_node(const VectorJson& json) {
  if (json.is_string()) return {.name = json.get<std::string>()};
  return {.name = json[0].get<std::string>(), .weight = json[1].get<std::uint32_t>()};
}

inline std::vector<PlacedNode> placed_nodes(const VectorJson& list) {
  std::vector<PlacedNode> nodes;
  for (const VectorJson& each : list) nodes.push_back(placed_node(each));
  return nodes;
}

// What stands between the marks.
inline std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == mark) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// "a/ketama/md5" in its parts.
inline std::vector<std::string> parts_of(const std::string& id) { return split(id, '/'); }

// How one configuration of a file is said to us.
struct Configuration {
  SchemeSpec spec;
  std::vector<PlacedNode> nodes;
  // What the recording's transport made of a key before the peer saw it.
  std::function<std::string(const std::string&)> sent = [](const std::string& key) { return key; };
  // Whether '.' means that the peer has no place for the key; else it only could not be carried,
  // except for the empty key.
  bool dot_is_no_place = false;
};

// What was compared, and how it went.
struct Compared {
  std::size_t configurations = 0;
  std::size_t keys = 0;         // placed alike, or both not at all
  std::size_t not_carried = 0;  // could not be recorded
  std::size_t differences = 0;

  friend bool operator==(const Compared&, const Compared&) = default;
};

inline void PrintTo(const Compared& compared, std::ostream* out) {
  *out << compared.configurations << " configurations, " << compared.keys << " keys, "
       << compared.not_carried << " not carried, " << compared.differences << " differences";
}

// Of all keys at once.
inline std::vector<std::size_t> owners_together(const Placement& placement,
                                                const std::vector<std::string>& keys) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::size_t> owners(keys.size());
  placement.owners(views, owners);
  return owners;
}

inline void compare(const std::string& id, const Configuration& configuration,
                    const std::string& recorded, Compared& compared) {
  static const std::vector<std::string> kKeys = read_vector_keys();
  ++compared.configurations;
  const auto placement = place(configuration.spec, configuration.nodes);
  ASSERT_TRUE(placement) << id << ": " << placement.error().message;
  ASSERT_EQ(recorded.size(), kKeys.size()) << id;
  std::vector<std::string> sent(kKeys.size());
  std::ranges::transform(kKeys, sent.begin(), configuration.sent);
  const std::vector<std::size_t> together = owners_together(**placement, sent);
  std::size_t differences = 0;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    const char want = recorded[i];
    if (want == '.' && !configuration.dot_is_no_place && !kKeys[i].empty()) {
      ++compared.not_carried;
      continue;
    }
    const auto owner = (*placement)->owner(sent[i]);
    EXPECT_EQ(together[i], owner.value_or(kNoNode)) << id << ": key " << i << " among others";
    const char got = owner ? "0123456789abcdefghijklmnopqrstuvwxyz"[*owner] : '.';
    if (got == want) {
      ++compared.keys;
    } else if (++differences <= 3) {
      ADD_FAILURE() << id << ": key " << i << " '" << kKeys[i] << "': " << got << ", the peer has "
                    << want;
    }
  }
  EXPECT_EQ(differences, 0U) << id;
  compared.differences += differences;
}

// Compares every configuration of a file; `describe` says what its id means.
inline Compared compare_file(
    const std::string& file,
    const std::function<Configuration(const VectorJson& json, const std::string& id)>& describe) {
  const VectorJson json = read_vectors(file);
  Compared compared;
  for (const auto& [id, recorded] : json["vectors"].items()) {
    compare(id, describe(json, id), recorded.get<std::string>(), compared);
  }
  return compared;
}

// As an HTTP header's value is carried: without blanks at its ends.
inline std::string trimmed(const std::string& key) {
  const std::size_t first = key.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return key.substr(first, key.find_last_not_of(" \t") - first + 1);
}

// As in a URL (RFC 3986): all but unreserved characters as %XX.
inline std::string percent_encoded(const std::string& key) {
  std::string text;
  for (const char c : key) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      text += c;
    } else {
      text += {'%', "0123456789ABCDEF"[byte >> 4U], "0123456789ABCDEF"[byte & 0xFU]};
    }
  }
  return text;
}

}  // namespace cleave::ring::testing
