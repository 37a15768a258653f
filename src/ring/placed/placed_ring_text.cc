#include "ring/placed/placed_ring_text.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace cleave::ring {
namespace {

// Fields stay in the order in which they are added: part of the canonical form.
using OrderedJson = nlohmann::ordered_json;
using Json = nlohmann::json;

constexpr int kDepthMax = 4;  // {"cuts": [{"range": [...]}]}

OrderedJson json_of(const RingNode& node) {
  return {{"name", node.name},
          {"weight", node.weight},
          {"rack", node.rack},
          {"datacenter", node.datacenter}};
}

OrderedJson json_of(const NamedCut& cut) {
  return {{"range", OrderedJson::array({to_hex(cut.range.first), to_hex(cut.range.last)})},
          {"node", cut.node}};
}

std::unexpected<Error> mistake(std::string_view place, std::string_view want) {
  return fail(Code::kInvalid, "ring text: " + std::string(place) + (place.empty() ? "" : ": ") +
                                  "want " + std::string(want));
}

// What the parser itself lets pass: a field given twice, of which it takes the last, and any depth.
// It goes over the text once before the values are made; as a callback of the parser it would cost
// time in the square of the nodes.
class Watch final : public nlohmann::json_sax<Json> {
 public:
  const std::optional<std::string>& twice() const { return twice_; }
  bool deep() const { return deep_; }

  bool key(string_t& name) override {
    if (fields_.back().insert(name).second) return true;
    twice_ = name;
    return false;
  }
  bool start_object(std::size_t /*elements*/) override {
    fields_.emplace_back();
    return enter();
  }
  bool end_object() override {
    fields_.pop_back();
    return leave();
  }
  bool start_array(std::size_t /*elements*/) override { return enter(); }
  bool end_array() override { return leave(); }
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  bool enter() {
    deep_ = ++depth_ > kDepthMax;
    return !deep_;
  }
  bool leave() {
    --depth_;
    return true;
  }

  std::vector<std::set<std::string, std::less<>>> fields_;  // of the objects that are open
  std::optional<std::string> twice_;
  int depth_ = 0;
  bool deep_ = false;
};

Result<Json> parse_strictly(std::string_view text) {
  Watch watch;
  const bool good = Json::sax_parse(text, &watch);
  if (watch.deep()) return mistake("", "no deeper nesting than a ring has");
  if (watch.twice()) return mistake("", "field '" + *watch.twice() + "' only once in an object");
  if (!good) return mistake("", "JSON");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return mistake("", "JSON");
  return json;
}

// Whether an object has the fields and no others.
Result<void> check_fields(const Json& json, const std::string& place,
                          std::initializer_list<std::string_view> names) {
  if (!json.is_object()) return mistake(place, "an object");
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(names, name) != names.end()) continue;
    return mistake(place, "no field '" + name + "'");
  }
  for (const std::string_view name : names) {
    if (!json.contains(name)) return mistake(place, "a field '" + std::string(name) + "'");
  }
  return {};
}

Result<std::string> read_text(const Json& json, const std::string& place) {
  if (json.is_string()) return json.get<std::string>();
  return mistake(place, "a string");
}

Result<Token> read_token(const Json& json, const std::string& place) {
  if (json.is_string() && json.get_ref<const std::string&>().size() == 16) {
    const Result<Token> token = parse_token(json.get_ref<const std::string&>());
    // Only as `to_text` writes it, so that one ring has one text.
    if (token && to_hex(*token) == json.get_ref<const std::string&>()) return *token;
  }
  return mistake(place, "16 lower-case hexadecimal digits in a string");
}

Result<RingNode> read_node(const Json& json, const std::string& place) {
  const auto fields = check_fields(json, place, {"name", "weight", "rack", "datacenter"});
  if (!fields) return std::unexpected(fields.error());
  RingNode node;
  for (const auto& [name, target] :
       {std::pair{"name", &node.name}, {"rack", &node.rack}, {"datacenter", &node.datacenter}}) {
    auto text = read_text(json[name], place + "." + name);
    if (!text) return std::unexpected(text.error());
    *target = std::move(*text);
  }
  const Json& weight = json["weight"];
  if (!weight.is_number_unsigned() || weight.get<std::uint64_t>() > kPlacedWeightMax) {
    return mistake(place + ".weight", "an integer from 1 to " + std::to_string(kPlacedWeightMax));
  }
  node.weight = weight.get<std::uint32_t>();
  return node;
}

Result<NamedCut> read_cut(const Json& json, const std::string& place) {
  const auto fields = check_fields(json, place, {"range", "node"});
  if (!fields) return std::unexpected(fields.error());
  const Json& range = json["range"];
  if (!range.is_array() || range.size() != 2) {
    return mistake(place + ".range", "[first token, last token]");
  }
  const auto first = read_token(range[0], place + ".range[0]");
  if (!first) return std::unexpected(first.error());
  const auto last = read_token(range[1], place + ".range[1]");
  if (!last) return std::unexpected(last.error());
  auto node = read_text(json["node"], place + ".node");
  if (!node) return std::unexpected(node.error());
  return NamedCut{{*first, *last}, std::move(*node)};
}

// `read(element, place)` for each element of the list of that name.
template <class T>
Result<std::vector<T>> read_list(const Json& json, const std::string& name,
                                 Result<T> (*read)(const Json&, const std::string&)) {
  const Json& list = json[name];
  if (!list.is_array()) return mistake(name, "a list");
  std::vector<T> values;
  values.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto value = read(list[i], name + "[" + std::to_string(i) + "]");
    if (!value) return std::unexpected(value.error());
    values.push_back(std::move(*value));
  }
  return values;
}

Result<SchemeSpec> read_scheme(const Json& json) {
  auto name = read_text(json["scheme"], "scheme");
  if (!name) return std::unexpected(name.error());
  SchemeSpec scheme{.name = std::move(*name)};
  const Json& options = json["options"];
  if (!options.is_object()) return mistake("options", "an object");
  for (const auto& [option, value] : options.items()) {
    auto text = read_text(value, "options." + option);
    if (!text) return std::unexpected(text.error());
    scheme.options.emplace(option, std::move(*text));
  }
  return scheme;
}

// First of all: what another format means by the other fields cannot be known.
Result<void> check_format(const Json& json) {
  const bool known = json.is_object() && json.contains("format") &&
                     json["format"].is_number_unsigned() &&
                     json["format"].get<std::uint64_t>() == kRingTextFormat;
  if (known) return {};
  return mistake("format", std::to_string(kRingTextFormat) + ", the only one this version reads");
}

Result<RingSpec> read_spec(const Json& json) {
  if (auto good = check_format(json); !good) return std::unexpected(good.error());
  const auto fields = check_fields(json, "", {"format", "scheme", "options", "nodes", "cuts"});
  if (!fields) return std::unexpected(fields.error());
  auto scheme = read_scheme(json);
  if (!scheme) return std::unexpected(scheme.error());
  auto nodes = read_list<RingNode>(json, "nodes", read_node);
  if (!nodes) return std::unexpected(nodes.error());
  auto cuts = read_list<NamedCut>(json, "cuts", read_cut);
  if (!cuts) return std::unexpected(cuts.error());
  return RingSpec{std::move(*scheme), std::move(*nodes), std::move(*cuts)};
}

}  // namespace

std::string to_text(const PlacedRing& ring) {
  const RingSpec spec = ring.spec();
  OrderedJson options = OrderedJson::object();
  for (const auto& [name, value] : spec.scheme.options) options[name] = value;
  OrderedJson nodes = OrderedJson::array();
  for (const RingNode& node : spec.nodes) nodes.push_back(json_of(node));
  OrderedJson cuts = OrderedJson::array();
  for (const NamedCut& cut : spec.cuts) cuts.push_back(json_of(cut));
  const OrderedJson json = {{"format", kRingTextFormat},
                            {"scheme", spec.scheme.name},
                            {"options", std::move(options)},
                            {"nodes", std::move(nodes)},
                            {"cuts", std::move(cuts)}};
  return json.dump();
}

Result<PlacedRing> parse_ring(std::string_view text) {
  if (text.size() > kRingTextBytesMax) {
    return fail(Code::kExhausted, "ring text: " + std::to_string(text.size()) +
                                      " bytes, more than " + std::to_string(kRingTextBytesMax));
  }
  const auto json = parse_strictly(text);
  if (!json) return std::unexpected(json.error());
  const auto spec = read_spec(*json);
  if (!spec) return std::unexpected(spec.error());
  auto ring = PlacedRing::make(*spec);
  if (!ring) return fail("ring text", ring.error());
  return ring;
}

}  // namespace cleave::ring
