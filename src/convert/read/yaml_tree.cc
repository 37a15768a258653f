#include "convert/read/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>

#include <set>
#include <sstream>

#include "base/ascii.h"
#include "convert/pool/notes.h"

namespace cleave::convert {
namespace {

// From 1; 0: there is none. The marks of yaml-cpp count from 0 and have -1 for none.
std::size_t line_number(const YAML::Mark& mark) {
  return mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line) + 1;
}

constexpr std::size_t kValuesMax = 1'000'000;
constexpr std::size_t kYamlDepthMax = 500;  // as yaml-cpp has it for what is written out

// Finds what yaml-cpp takes silently. A value whose alias stands within itself has no end.
class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  void check(const YAML::Node& node, std::size_t depth = 0) {
    if (error_) return;
    if (++values_ > kValuesMax) {
      fail_at(node, "more than " + std::to_string(kValuesMax) + " values");
    } else if (depth > kYamlDepthMax) {
      fail_at(node, "nested deeper than " + std::to_string(kYamlDepthMax) + ", or in itself");
    } else if (node.IsMap()) {
      check_map(node, depth);
    } else if (node.IsSequence()) {
      for (const YAML::Node& element : node) check(element, depth + 1);
    }
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  void check_map(const YAML::Node& node, std::size_t depth) {
    std::set<std::string> keys;
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) return fail_at(pair.first, "a key must be a word");
      if (!keys.insert(pair.first.Scalar()).second)
        return fail_at(pair.first, "'" + pair.first.Scalar() + "' is there twice");
      check(pair.second, depth + 1);
    }
  }

  void fail_at(const YAML::Node& node, const std::string& what) {
    if (!error_) error_ = Error{Code::kInvalid, at_line(file_, line_of(node), what)};
  }

  const std::string& file_;
  std::size_t values_ = 0;
  std::optional<Error> error_;
};

// Takes no notice of anything.
class Deaf : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}
};

std::string camel(std::string_view snake) {
  std::string text;
  bool upper = false;
  for (const char c : snake) {
    if (c == '_') {
      upper = true;
      continue;
    }
    const bool is_letter = c >= 'a' && c <= 'z';
    text.push_back(upper && is_letter ? static_cast<char>(c - 'a' + 'A') : c);
    upper = false;
  }
  return text;
}

}  // namespace

std::size_t count_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Deaf handler;
  std::size_t count = 0;
  while (count < 2 && parser.HandleNextDocument(handler)) ++count;
  return count;
}

Result<YAML::Node> load_yaml(std::string_view text, const std::string& file) {
  try {
    const std::string all(text);
    YAML::Node document =
        count_documents(all) == 1 ? YAML::Load(all) : YAML::Node(YAML::NodeType::Null);
    if (!document.IsMap() && !document.IsSequence())
      return fail(Code::kInvalid, at_line(file, 0, "want one YAML document, a mapping or a list"));
    Checker checker(file);
    checker.check(document);
    if (checker.error()) return std::unexpected(*checker.error());
    return document;
  } catch (const YAML::Exception& failure) {
    return fail(Code::kInvalid,
                at_line(file, line_number(failure.mark), "not YAML: " + failure.msg));
  }
}

std::size_t line_of(const YAML::Node& node) {
  return node.IsDefined() ? line_number(node.Mark()) : 0;
}

std::vector<YamlEntry> entries_of(const YAML::Node& node) {
  std::vector<YamlEntry> entries;
  if (!node.IsDefined() || !node.IsMap()) return entries;
  for (const auto& pair : node) entries.push_back({pair.first.Scalar(), pair.second});
  return entries;
}

std::string text_of(const YAML::Node& node) {
  return node.IsDefined() && node.IsScalar() ? node.Scalar() : std::string();
}

bool is_true(const YAML::Node& node) {
  const std::string text = lowered(text_of(node));
  return text == "true" || text == "yes" || text == "on" || text == "y";
}

YAML::Node find_field(const YAML::Node& node, std::string_view snake) {
  const std::string other = camel(snake);
  for (const YamlEntry& entry : entries_of(node)) {
    if (entry.key == snake || entry.key == other) return entry.value;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

YAML::Node find_path(const YAML::Node& node, std::string_view path) {
  const std::size_t dot = path.find('.');
  const YAML::Node value = find_field(node, path.substr(0, dot));
  return dot == std::string_view::npos ? value : find_path(value, path.substr(dot + 1));
}

}  // namespace cleave::convert
