// Walking a YAML tree by hand, so that nothing in it is overlooked.
//
// yaml-cpp takes duplicate keys silently and reads 0777 as 511; a typed walk refuses both. The walk
// keeps the first error and goes on with defaults, so that the code that reads a section is a plain
// list of its keys:
//
//   Walk walk("cleave.yaml");
//   Section root(walk, YAML::Load(text), "");
//   config.workers = root.number("workers", {.fallback = 1, .min = 1, .max = 64});
//   root.finish();                              // whatever was not asked for is unknown
//   if (walk.failed()) return std::unexpected(walk.error());
//
// Threads: one owner.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "convert/read/yaml_tree.h"
#include "net/loop.h"

namespace cleave::app {

// The first error of a walk, with its place.
class Walk {
 public:
  explicit Walk(std::string file) : file_(std::move(file)) {}

  // Notes `what` at the node's place, unless an error was noted before.
  void fail(const YAML::Mark& mark, const std::string& path, const std::string& what);
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::string file_;
  std::optional<Error> error_;
};

// What a number may be. Without `fallback` the key must be there.
struct NumberRule {
  std::optional<std::uint64_t> fallback{};
  std::uint64_t min = 0;
  std::uint64_t max = UINT64_MAX;
};

// One mapping of the file.
class Section {
 public:
  // A node that is no mapping is an error; the section is then empty. `path` is for messages:
  // "pools[0].nodes[1]".
  Section(Walk& walk, const YAML::Node& node, std::string path);

  // Each asks for one key. Absent: the fallback, or an error where there is none.
  std::uint64_t number(const std::string& key, const NumberRule& rule);
  std::string text(const std::string& key, const std::optional<std::string>& fallback = {});
  // A list of texts. Absent: empty.
  std::vector<std::string> texts(const std::string& key);
  bool boolean(const std::string& key, bool fallback);
  net::Address address(const std::string& key, const std::optional<net::Address>& fallback = {});
  // The position of the value in `allowed`.
  std::size_t choice(const std::string& key, const std::vector<std::string>& allowed,
                     std::size_t fallback);
  Section section(const std::string& key);
  // Each element as a mapping. Absent: empty.
  std::vector<Section> list(const std::string& key);

  // What nobody asked for until now, as texts.
  std::map<std::string, std::string, std::less<>> rest();

  bool has(const std::string& key) const;
  // An error about one key of this section (about the section where it is absent).
  void fail(const std::string& key, const std::string& what);
  // Every key that nobody asked for is an error.
  void finish();

 private:
  struct Item {
    YAML::Node key;
    YAML::Node value;
    bool asked = false;
  };
  // The value of the key, marked as asked for; nullptr when absent.
  const YAML::Node* ask(const std::string& key);
  // The same for a plain or quoted scalar; anything else is an error.
  const YAML::Node* ask_scalar(const std::string& key, std::string_view wanted);
  // The same for a list.
  const YAML::Node* ask_list(const std::string& key);
  void missing(const std::string& key, std::string_view wanted);
  std::string path_of(const std::string& key) const;

  Walk* walk_;
  std::string path_;
  YAML::Mark mark_;
  std::vector<Item> items_;
  std::vector<std::string> known_;  // every key asked for, for the message of `finish`
};

// The one document of a YAML text: what `read(document, walk)` makes of it, a Result. Errors also:
// kInvalid when it is not YAML, or not one document. yaml-cpp says all of that by exceptions, while
// it is read too; none leaves this.
template <class Read>
auto read_yaml(std::string_view text, const std::string& file, const Read& read)
    -> decltype(read(YAML::Node{}, std::declval<Walk&>())) {
  Walk walk(file);
  try {
    const std::string all(text);
    const std::size_t documents = convert::count_documents(all);
    if (documents != 1) {
      return cleave::fail(Code::kInvalid,
                          file + ":1:1: want one YAML document, got " + std::to_string(documents));
    }
    return read(YAML::Load(all), walk);
  } catch (const YAML::Exception& failure) {
    walk.fail(failure.mark, "", "not YAML: " + failure.msg);
    return std::unexpected(walk.error());
  }
}

}  // namespace cleave::app
