// The text form of a document, reading (docs/formats/ring-document.md).
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "ring/document.h"
#include "ring/text_format.h"

namespace cleave::ring {
namespace {

using Json = nlohmann::json;

// Reads the fields of one JSON object. The first error of a whole document is kept and every later
// read gives a default, so that the code that reads a document is one straight line.
class Fields {
 public:
  Fields(const Json& json, std::string place, std::optional<Error>& error)
      : json_(json), place_(std::move(place)), error_(error) {
    if (!json.is_object()) refuse("want an object");
  }

  std::uint64_t number(const char* name, std::uint64_t max = kNumberMax) {
    const Json* value = field(name);
    if (value == nullptr) return 0;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() <= max) {
      return value->get<std::uint64_t>();
    }
    refuse(std::string(name) + ": want an integer from 0 to " + std::to_string(max));
    return 0;
  }

  std::uint32_t small_number(const char* name) {
    return static_cast<std::uint32_t>(number(name, 0xFFFFFFFFU));
  }

  UnixMillis time(const char* name) {
    return UnixMillis{static_cast<std::int64_t>(number(name))};
  }

  std::string text(const char* name) {
    const Json* value = field(name);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    refuse(std::string(name) + ": want a string");
    return {};
  }

  bool flag(const char* name) {
    const Json* value = field(name);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    refuse(std::string(name) + ": want true or false");
    return false;
  }

  // One of a list of names.
  template <class T>
  T word(const char* name, Result<T> (*parse)(std::string_view)) {
    const std::string given = text(name);
    if (error_) return T{};
    const Result<T> value = parse(given);
    if (value) return *value;
    refuse(value.error().message);
    return T{};
  }

  // `each(element, place)` for the elements of a list.
  template <class Each>
  void list(const char* name, Each each) {
    const Json* value = field(name);
    if (value == nullptr) return;
    if (!value->is_array()) return refuse(std::string(name) + ": want a list");
    for (std::size_t i = 0; i < value->size() && !error_; ++i) {
      each((*value)[i], place_ + name + "[" + std::to_string(i) + "].");
    }
  }

  const Json* field(const char* name) {
    if (error_) return nullptr;
    const auto found = json_.find(name);
    if (found != json_.end()) return &*found;
    refuse(std::string(name) + ": missing");
    return nullptr;
  }

  const std::string& place() const { return place_; }
  std::optional<Error>& error() { return error_; }

  void refuse(const std::string& reason) {
    if (!error_) error_ = Error{Code::kInvalid, "ring document: " + place_ + reason};
  }

 private:
  const Json& json_;
  std::string place_;
  std::optional<Error>& error_;
};

TokenRange read_range(const Json& json, const std::string& place, std::optional<Error>& error) {
  const bool pair = json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string();
  if (pair) {
    const Result<Token> first = parse_token(json[0].get_ref<const std::string&>());
    const Result<Token> last = parse_token(json[1].get_ref<const std::string&>());
    if (first && last && *first <= *last) return {*first, *last};
  }
  error = Error{Code::kInvalid, "ring document: " + place +
                                    " want [first token, last token], hexadecimal, in order"};
  return {};
}

Member read_member(Fields fields) {
  Member member;
  member.address = fields.text("address");
  member.rack = fields.text("rack");
  return member;
}

Node read_node(Fields fields) {
  Node node;
  node.id = NodeId{fields.small_number("id")};
  node.name = fields.text("name");
  node.weight = fields.small_number("weight");
  node.state = fields.word("state", parse_node_state);
  fields.list("members", [&](const Json& json, const std::string& place) {
    node.members.push_back(read_member({json, place, fields.error()}));
  });
  return node;
}

Cut read_cut(Fields fields) {
  Cut cut;
  if (const Json* range = fields.field("range")) {
    cut.range = read_range(*range, fields.place() + "range:", fields.error());
  }
  cut.node = NodeId{fields.small_number("node")};
  cut.reason = fields.text("reason");
  cut.created = fields.time("created");
  cut.pinned_until = fields.time("pinned_until");
  return cut;
}

Move read_move(Fields fields) {
  Move move;
  move.id = MoveId{fields.number("id")};
  fields.list("ranges", [&](const Json& json, const std::string& place) {
    move.ranges.push_back(read_range(json, place, fields.error()));
  });
  move.source = NodeId{fields.small_number("source")};
  move.destination = NodeId{fields.small_number("destination")};
  move.phase = fields.word("phase", parse_phase);
  move.phase_epoch = Epoch{fields.number("phase_epoch")};
  move.reason = fields.text("reason");
  move.started = fields.time("started");
  return move;
}

Leader read_leader(Fields fields) {
  Leader leader;
  leader.session = SessionId{fields.text("session")};
  leader.term = Term{fields.number("term")};
  return leader;
}

void check_versions(Fields& fields) {
  const std::uint64_t format = fields.number("format");
  const std::uint64_t min_reader = fields.number("min_reader");
  if (format == 0) fields.refuse("format: want at least 1");
  if (min_reader > kTextReader) {
    fields.refuse("min_reader: written for readers from version " + std::to_string(min_reader) +
                  " on, this one is version " + std::to_string(kTextReader) + "; upgrade cleave");
  }
}

Document read_document(Fields fields) {
  Document document;
  // First: what a newer format means by the other fields cannot be known.
  check_versions(fields);
  std::optional<Error>& error = fields.error();
  document.epoch = Epoch{fields.number("epoch")};
  document.pool = fields.text("pool");
  document.mark = fields.text("mark");
  document.scheme = fields.text("scheme");
  fields.list("nodes", [&](const Json& json, const std::string& place) {
    document.nodes.push_back(read_node({json, place, error}));
  });
  document.next_node = NodeId{fields.small_number("next_node")};
  fields.list("cuts", [&](const Json& json, const std::string& place) {
    document.cuts.push_back(read_cut({json, place, error}));
  });
  fields.list("moves", [&](const Json& json, const std::string& place) {
    document.moves.push_back(read_move({json, place, error}));
  });
  if (const Json* leader = fields.field("leader")) {
    document.leader = read_leader({*leader, "leader.", error});
  }
  fields.list("routers", [&](const Json& json, const std::string& place) {
    if (!json.is_string()) return fields.refuse(place + " want a string");
    document.routers.push_back(SessionId{json.get<std::string>()});
  });
  document.mode = fields.word("mode", parse_mode);
  document.frozen = fields.flag("frozen");
  return document;
}

}  // namespace

Result<Document> parse_document(std::string_view text) {
  if (text.size() > kTextBytesMax) {
    return fail(Code::kInvalid, "ring document: " + std::to_string(text.size()) +
                                    " bytes, more than " + std::to_string(kTextBytesMax));
  }
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return fail(Code::kInvalid, "ring document: not JSON");
  std::optional<Error> error;
  Document document = read_document({json, "", error});
  if (error) return std::unexpected(*error);
  if (const Result<void> valid = validate(document); !valid) {
    return fail("ring document", valid.error());
  }
  return document;
}

}  // namespace cleave::ring
