// The text form of a document, reading (docs/formats/ring-document.md).
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ring/document/document.h"

namespace cleave::ring {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kIdMax = 0xFFFFFFFFU;

// The first mistake found, with its place ("cuts[3].range"). Every
// read after it gives a default, so that the code that reads a document is a straight line.
struct Mistakes {
  void note(const std::string& place, const std::string& want) {
    if (first) return;
    first = Error{Code::kInvalid,
                  "ring document: " + place + (place.empty() ? "" : ": ") + "want " + want};
  }

  std::optional<Error> first;
};

// Reads the fields of one JSON object.
class Fields {
 public:
  Fields(const Json& json, std::string place, Mistakes& mistakes)
      : json_(json), place_(std::move(place)), mistakes_(mistakes) {
    if (!json.is_object()) mistakes_.note(place_, "an object");
  }

  std::uint64_t number(const char* name, std::uint64_t max = kNumberMax) {
    const Json* value = field(name);
    if (value == nullptr) return 0;
    if (value->is_number_unsigned() && value->get<std::uint64_t>() <= max) {
      return value->get<std::uint64_t>();
    }
    mistakes_.note(place_of(name), "an integer from 0 to " + std::to_string(max));
    return 0;
  }

  std::uint32_t small_number(const char* name) {
    return static_cast<std::uint32_t>(number(name, kIdMax));
  }

  UnixMillis time(const char* name) { return UnixMillis{static_cast<std::int64_t>(number(name))}; }

  std::string text(const char* name) {
    const Json* value = field(name);
    if (value == nullptr) return {};
    if (value->is_string()) return value->get<std::string>();
    mistakes_.note(place_of(name), "a string");
    return {};
  }

  // Absent: empty.
  std::string optional_text(const char* name) {
    return json_.contains(name) ? text(name) : std::string();
  }

  // An object of texts; absent: empty.
  std::map<std::string, std::string, std::less<>> optional_texts(const char* name) {
    std::map<std::string, std::string, std::less<>> texts;
    if (!json_.contains(name)) return texts;
    const Json& object = json_.at(name);
    if (!object.is_object()) mistakes_.note(place_of(name), "an object");
    for (const auto& [key, value] : object.items()) {
      if (value.is_string()) {
        texts.emplace(key, value.get<std::string>());
      } else {
        mistakes_.note(place_of(name) + "." + key, "a string");
      }
    }
    return texts;
  }

  // Absent: 0.
  std::uint64_t optional_number(const char* name, std::uint64_t max = kNumberMax) {
    return json_.contains(name) ? number(name, max) : 0;
  }

  // Absent: false.
  bool optional_flag(const char* name) { return json_.contains(name) && flag(name); }

  bool flag(const char* name) {
    const Json* value = field(name);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    mistakes_.note(place_of(name), "true or false");
    return false;
  }

  // One of the names that `parse` knows.
  template <class T>
  T word(const char* name, Result<T> (*parse)(std::string_view)) {
    const std::string given = text(name);
    if (mistakes_.first) return T{};
    const Result<T> value = parse(given);
    if (value) return *value;
    mistakes_.note(place_of(name), "a known one; " + value.error().message);
    return T{};
  }

  // `read(element, place, mistakes)` for each element of a list.
  template <class Read>
  auto list(const char* name, Read read) {
    std::vector<std::invoke_result_t<Read, const Json&, std::string, Mistakes&>> values;
    const Json* value = field(name);
    if (value == nullptr) return values;
    if (!value->is_array()) mistakes_.note(place_of(name), "a list");
    for (std::size_t i = 0; i < value->size() && !mistakes_.first; ++i) {
      const std::string place = place_of(name) + "[" + std::to_string(i) + "]";
      values.push_back(read((*value)[i], place, mistakes_));
    }
    return values;
  }

  // As `list`; absent: empty.
  template <class Read>
  auto optional_list(const char* name, Read read) {
    if (json_.contains(name)) return list(name, read);
    return std::vector<std::invoke_result_t<Read, const Json&, std::string, Mistakes&>>{};
  }

  // As `list`, for a single value.
  template <class Read>
  auto one(const char* name, Read read) {
    const Json* value = field(name);
    return read(value == nullptr ? Json() : *value, place_of(name), mistakes_);
  }

  void refuse(const char* name, const std::string& want) { mistakes_.note(place_of(name), want); }

 private:
  const Json* field(const char* name) {
    if (mistakes_.first) return nullptr;
    const auto found = json_.find(name);
    if (found != json_.end()) return &*found;
    mistakes_.note(place_of(name), "a value, it is missing");
    return nullptr;
  }

  std::string place_of(const char* name) const {
    return place_.empty() ? name : place_ + "." + name;
  }

  const Json& json_;
  std::string place_;
  Mistakes& mistakes_;
};

TokenRange read_range(const Json& json, const std::string& place, Mistakes& mistakes) {
  const bool pair =
      json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string();
  if (pair) {
    const Result<Token> first = parse_token(json[0].get_ref<const std::string&>());
    const Result<Token> last = parse_token(json[1].get_ref<const std::string&>());
    if (first && last && *first <= *last) return {*first, *last};
  }
  mistakes.note(place, "[first token, last token], hexadecimal strings in order");
  return {};
}

// Format 1 knew a router by its session only.
Router read_router(const Json& json, const std::string& place, Mistakes& mistakes) {
  if (json.is_string())
    return {.session = SessionId{json.get<std::string>()}, .reader = 1, .peer_version = 0};
  Fields fields(json, place, mistakes);
  Router router;
  router.session = SessionId{fields.text("session")};
  router.peer = fields.text("peer");
  router.reader = fields.small_number("reader");
  router.peer_version = fields.small_number("peer_version");
  return router;
}

Member read_member(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  Member member;
  member.address = fields.text("address");
  member.rack = fields.text("rack");
  return member;
}

Node read_node(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  Node node;
  node.id = NodeId{fields.small_number("id")};
  node.name = fields.text("name");
  node.weight = fields.small_number("weight");
  node.state = fields.word("state", parse_node_state);
  node.members = fields.list("members", read_member);
  node.hash_key = fields.optional_text("hash_key");
  node.strays = fields.optional_number("strays");
  node.drain_held = fields.optional_flag("drain_held");
  return node;
}

Cut read_cut(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  Cut cut;
  cut.range = fields.one("range", read_range);
  cut.node = NodeId{fields.small_number("node")};
  cut.reason = fields.text("reason");
  cut.created = fields.time("created");
  cut.pinned_until = fields.time("pinned_until");
  return cut;
}

Move read_move(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  Move move;
  move.id = MoveId{fields.number("id")};
  move.ranges = fields.list("ranges", read_range);
  move.source = NodeId{fields.small_number("source")};
  move.destination = NodeId{fields.small_number("destination")};
  move.phase = fields.word("phase", parse_phase);
  move.phase_epoch = Epoch{fields.number("phase_epoch")};
  move.reason = fields.text("reason");
  move.started = fields.time("started");
  move.takes_back = MoveId{fields.optional_number("takes_back")};
  return move;
}

Leftover read_leftover(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  Leftover leftover;
  leftover.move = MoveId{fields.number("move")};
  leftover.node = NodeId{fields.small_number("node")};
  leftover.ranges = fields.list("ranges", read_range);
  leftover.since = fields.time("since");
  leftover.state = fields.word("state", parse_leftover_state);
  leftover.holder = NodeId{static_cast<std::uint32_t>(fields.optional_number("holder", kIdMax))};
  leftover.incarnation.run_id = fields.optional_text("run_id");
  leftover.incarnation.replication_id = fields.optional_text("replication_id");
  leftover.offset = fields.optional_number("offset");
  leftover.server = fields.optional_text("server");
  leftover.why = fields.optional_text("why");
  return leftover;
}

ExpectedLoad read_load(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  ExpectedLoad load;
  load.range = fields.one("range", read_range);
  load.load = fields.number("load");
  return load;
}

ExpectedEvent read_event(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  ExpectedEvent event;
  event.name = fields.text("name");
  event.lead_from = fields.time("lead_from");
  event.start = fields.time("start");
  event.end = fields.time("end");
  event.loads = fields.list("loads", read_load);
  return event;
}

Leader read_leader(const Json& json, const std::string& place, Mistakes& mistakes) {
  Fields fields(json, place, mistakes);
  Leader leader;
  leader.session = SessionId{fields.text("session")};
  leader.term = Term{fields.number("term")};
  return leader;
}

void check_versions(Fields& fields) {
  if (fields.number("format") == 0) fields.refuse("format", "at least 1");
  const std::uint64_t min_reader = fields.number("min_reader");
  if (min_reader <= kTextReader) return;
  fields.refuse("min_reader", "at most " + std::to_string(kTextReader) + ", got " +
                                  std::to_string(min_reader) +
                                  ": written by a newer cleave, upgrade this one");
}

Document read_document(const Json& json, Mistakes& mistakes) {
  Fields fields(json, "", mistakes);
  // First: what a newer format means by the other fields cannot be known.
  check_versions(fields);
  Document document;
  document.epoch = Epoch{fields.number("epoch")};
  document.pool = fields.text("pool");
  document.mark = fields.text("mark");
  document.scheme.name = fields.text("scheme");
  document.scheme.options = fields.optional_texts("scheme_options");
  document.nodes = fields.list("nodes", read_node);
  document.next_node = NodeId{fields.small_number("next_node")};
  document.cuts = fields.list("cuts", read_cut);
  document.moves = fields.list("moves", read_move);
  document.leader = fields.one("leader", read_leader);
  document.routers = fields.list("routers", read_router);
  document.mode = fields.word("mode", parse_mode);
  document.frozen = fields.flag("frozen");
  document.expected = fields.optional_list("expected", read_event);
  document.leftovers = fields.optional_list("leftovers", read_leftover);
  document.old_readers = fields.optional_flag("old_readers");
  document.flatten = fields.optional_flag("flatten");
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
  Mistakes mistakes;
  Document document = read_document(json, mistakes);
  if (mistakes.first) return std::unexpected(*mistakes.first);
  if (const Result<void> valid = validate(document); !valid) {
    return fail("ring document", valid.error());
  }
  return document;
}

}  // namespace cleave::ring
