#include "app/config/yaml_walk.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace cleave::app {
namespace {

// A plain scalar has the tag "?", a quoted one "!": `workers: "1"` is a text, not a number.
bool is_plain(const YAML::Node& node) { return node.Tag() != "!"; }

std::string describe(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar: return "'" + node.Scalar() + "'";
    case YAML::NodeType::Sequence: return "a list";
    case YAML::NodeType::Map: return "a mapping";
    default: return "nothing";
  }
}

bool is_decimal(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string describe(const NumberRule& rule) {
  return "want a whole number from " + std::to_string(rule.min) + " to " + std::to_string(rule.max);
}

}  // namespace

void Walk::fail(const YAML::Mark& mark, const std::string& path, const std::string& what) {
  if (error_) return;
  std::string message =
      file_ + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1) + ": ";
  if (!path.empty()) message += path + ": ";
  error_ = Error{Code::kInvalid, message + what};
}

Section::Section(Walk& walk, const YAML::Node& node, std::string path)
    : walk_(&walk), path_(std::move(path)), mark_(node.Mark()) {
  if (!node.IsMap()) {
    if (node.IsDefined()) walk.fail(mark_, path_, "want a mapping, got " + describe(node));
    return;
  }
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      walk.fail(pair.first.Mark(), path_, "a key must be a word");
      continue;
    }
    const std::string& name = pair.first.Scalar();
    if (has(name)) walk.fail(pair.first.Mark(), path_of(name), "this key is there twice");
    items_.push_back({.key = pair.first, .value = pair.second});
  }
}

std::uint64_t Section::number(const std::string& key, const NumberRule& rule) {
  const YAML::Node* node = ask_scalar(key, rule.fallback ? "" : describe(rule));
  if (node == nullptr) return rule.fallback.value_or(rule.min);
  const std::string& text = node->Scalar();
  if (text.size() > 1 && text[0] == '0' && is_decimal(text)) {
    fail(key, "'" + text + "' could be read as octal; write the number without leading zeros");
    return rule.min;
  }
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = is_decimal(text) && is_plain(*node) && failure == std::errc{} &&
                     end == text.data() + text.size();
  if (!whole || value < rule.min || value > rule.max) {
    fail(key, describe(rule) + ", got " + (is_plain(*node) ? describe(*node) : "a quoted text"));
    return rule.min;
  }
  return value;
}

std::string Section::text(const std::string& key, const std::optional<std::string>& fallback) {
  const YAML::Node* node = ask_scalar(key, fallback ? "" : "want a text");
  if (node == nullptr) return fallback.value_or("");
  return node->Scalar();
}

std::vector<std::string> Section::texts(const std::string& key) {
  std::vector<std::string> values;
  const YAML::Node* node = ask_list(key);
  if (node == nullptr) return values;
  for (const YAML::Node& element : *node) {
    if (!element.IsScalar()) {
      fail(key, "want a list of texts, got " + describe(element));
      return values;
    }
    values.push_back(element.Scalar());
  }
  return values;
}

bool Section::boolean(const std::string& key, bool fallback) {
  const YAML::Node* node = ask_scalar(key, "");
  if (node == nullptr) return fallback;
  if (is_plain(*node) && node->Scalar() == "true") return true;
  if (is_plain(*node) && node->Scalar() == "false") return false;
  fail(key, "want true or false, got " + describe(*node));
  return fallback;
}

net::Address Section::address(const std::string& key, const std::optional<net::Address>& fallback) {
  const YAML::Node* node = ask_scalar(key, fallback ? "" : "want an address, host:port");
  if (node == nullptr) return fallback.value_or(net::Address{});
  Result<net::Address> parsed = net::parse_address(node->Scalar());
  if (!parsed) {
    fail(key, parsed.error().message);
    return {};
  }
  return *parsed;
}

std::size_t Section::choice(const std::string& key, const std::vector<std::string>& allowed,
                            std::size_t fallback) {
  const YAML::Node* node = ask_scalar(key, "");
  if (node == nullptr) return fallback;
  const auto found = std::ranges::find(allowed, node->Scalar());
  if (found == allowed.end()) {
    fail(key, "want one of " + joined(allowed) + ", got " + describe(*node));
    return fallback;
  }
  return static_cast<std::size_t>(found - allowed.begin());
}

Section Section::section(const std::string& key) {
  const YAML::Node* node = ask(key);
  return {*walk_, node == nullptr ? YAML::Node(YAML::NodeType::Undefined) : *node, path_of(key)};
}

std::vector<Section> Section::list(const std::string& key) {
  std::vector<Section> sections;
  const YAML::Node* node = ask_list(key);
  if (node == nullptr) return sections;
  for (const YAML::Node& element : *node) {
    sections.emplace_back(*walk_, element,
                          path_of(key) + "[" + std::to_string(sections.size()) + "]");
  }
  return sections;
}

std::map<std::string, std::string, std::less<>> Section::rest() {
  std::map<std::string, std::string, std::less<>> texts;
  for (Item& item : items_) {
    if (item.asked) continue;
    item.asked = true;
    const std::string& key = item.key.Scalar();
    if (item.value.IsScalar()) {
      texts.emplace(key, item.value.Scalar());
    } else {
      fail(key, "want one value, got " + describe(item.value));
    }
  }
  return texts;
}

bool Section::has(const std::string& key) const {
  return std::ranges::any_of(items_, [&](const Item& item) { return item.key.Scalar() == key; });
}

void Section::fail(const std::string& key, const std::string& what) {
  for (const Item& item : items_) {
    if (item.key.Scalar() == key) {
      walk_->fail(item.value.Mark(), path_of(key), what);
      return;
    }
  }
  walk_->fail(mark_, path_of(key), what);
}

void Section::finish() {
  for (const Item& item : items_) {
    if (item.asked) continue;
    walk_->fail(item.key.Mark(), path_of(item.key.Scalar()),
                "unknown key; known here: " + joined(known_));
  }
}

const YAML::Node* Section::ask(const std::string& key) {
  known_.push_back(key);
  for (Item& item : items_) {
    if (item.key.Scalar() != key) continue;
    item.asked = true;
    return &item.value;
  }
  return nullptr;
}

const YAML::Node* Section::ask_scalar(const std::string& key, std::string_view wanted) {
  const YAML::Node* node = ask(key);
  if (node == nullptr) {
    if (!wanted.empty()) missing(key, wanted);
    return nullptr;
  }
  if (node->IsScalar()) return node;
  fail(key, "want one value, got " + describe(*node));
  return nullptr;
}

const YAML::Node* Section::ask_list(const std::string& key) {
  const YAML::Node* node = ask(key);
  if (node == nullptr || node->IsSequence()) return node;
  fail(key, "want a list, got " + describe(*node));
  return nullptr;
}

void Section::missing(const std::string& key, std::string_view wanted) {
  walk_->fail(mark_, path_of(key), "this key is missing; " + std::string(wanted));
}

std::string Section::path_of(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

}  // namespace cleave::app
