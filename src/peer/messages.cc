#include "peer/messages.h"

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

namespace cleave::peer {
namespace {

using Json = nlohmann::json;
using Binary = Json::binary_t;

// ---- writing ------------------------------------------------------------------------------------

std::string packed(const Json& json) {
  std::string bytes;
  Json::to_msgpack(json, bytes);
  return bytes;
}

// A string of any bytes.
Json binary(std::string_view bytes) {
  return Json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

Json binaries(const std::vector<std::string>& all) {
  Json list = Json::array();
  for (const std::string& each : all) list.push_back(binary(each));
  return list;
}

Json json_of(const DirtyBatch& batch) {
  Json elements = Json::array();
  for (const Touched& each : batch.elements)
    elements.push_back({binary(each.key), binaries(each.elements)});
  return {{"number", batch.number},
          {"keys", binaries(batch.keys)},
          {"whole_range", batch.whole_range},
          {"elements", std::move(elements)}};
}

// Lists of numbers in the order of the fields: a report has thousands of samples.
Json json_of(const heat::Report& report) {
  Json sums = Json::array();
  for (const heat::RangeSum& sum : report.sums) {
    sums.push_back({sum.range.first.value(), sum.range.last.value(), sum.node.value(), sum.requests,
                    sum.writes, sum.weight_ns});
  }
  Json samples = Json::array();
  for (const heat::Sample& sample : report.samples) {
    samples.push_back(sample.token.value());
    samples.push_back(sample.weight_ns);
  }
  Json hot_keys = Json::array();
  for (const heat::HotKey& hot : report.hot_keys) {
    hot_keys.push_back(
        {binary(hot.key), hot.token.value(), hot.node.value(), hot.weight_ns, hot.error_ns});
  }
  Json scripts = Json::array();
  for (const heat::ScriptMark& mark : report.scripts) {
    scripts.push_back(mark.bucket);
    scripts.push_back(mark.age_s);
  }
  return {{"recorder", report.recorder},
          {"sequence", report.sequence},
          {"epoch", report.epoch.value()},
          {"covers_ns", static_cast<std::uint64_t>(report.covers.count())},
          {"thinning", report.thinning},
          {"sums", std::move(sums)},
          {"samples", std::move(samples)},
          {"hot_keys", std::move(hot_keys)},
          {"scripts", std::move(scripts)}};
}

// ---- reading ------------------------------------------------------------------------------------

// Reads one value and keeps the first mistake; after one, everything is empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes)
      : json_(Json::from_msgpack(bytes.begin(), bytes.end(), /*strict=*/true,
                                 /*allow_exceptions=*/false)) {
    if (json_.is_discarded() || !json_.is_object()) note("a MessagePack map is wanted");
  }

  const Json& root() const { return json_; }
  const Result<void>& result() const { return result_; }
  void note(const std::string& what) {
    if (result_) result_ = fail(Code::kInvalid, "message of a router: " + what);
  }

  void wants(std::string_view name, std::string_view what) {
    std::string text(name);
    text.append(": want ").append(what);
    note(text);
  }

  const Json& field(const Json& from, const char* name) {
    static const Json kNone;
    if (!result_) return kNone;
    const auto found = from.find(name);
    if (found != from.end()) return *found;
    note(std::string(name) + " is missing");
    return kNone;
  }
  // What an older version does not say is empty.
  const Json& new_list(const Json& from, const char* name) {
    static const Json kNone = Json::array();
    return from.contains(name) ? list(from, name) : kNone;
  }
  const Json& list(const Json& from, const char* name) {
    static const Json kEmpty = Json::array();
    const Json& value = field(from, name);
    if (value.is_array()) return value;
    wants(name, "a list");
    return kEmpty;
  }
  std::uint64_t number(const Json& value, const char* name, std::uint64_t most = UINT64_MAX) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= most)
      return value.get<std::uint64_t>();
    note(std::string(name) + ": want a number up to " + std::to_string(most));
    return 0;
  }
  std::uint32_t small(const Json& value, const char* name) {
    return static_cast<std::uint32_t>(number(value, name, UINT32_MAX));
  }
  std::uint64_t number_of(const Json& from, const char* name, std::uint64_t most = UINT64_MAX) {
    return number(field(from, name), name, most);
  }
  bool flag_of(const Json& from, const char* name) {
    const Json& value = field(from, name);
    if (value.is_boolean()) return value.get<bool>();
    wants(name, "true or false");
    return false;
  }
  std::string text(const Json& value, const char* name) {
    if (value.is_string()) return value.get<std::string>();
    wants(name, "a string");
    return {};
  }
  std::string bytes(const Json& value, const char* name) {
    if (value.is_binary()) return {value.get_binary().begin(), value.get_binary().end()};
    wants(name, "bytes");
    return {};
  }
  // Whether it is a list of so many values.
  bool tuple(const Json& value, std::size_t size, const char* name) {
    if (result_ && value.is_array() && value.size() == size) return true;
    note(std::string(name) + ": want " + std::to_string(size) + " values");
    return false;
  }

 private:
  Json json_;
  Result<void> result_;
};

template <class T>
Result<T> finish(const Reader& reader, T value) {
  if (!reader.result()) return std::unexpected(reader.result().error());
  return value;
}

DirtyBatch batch_of(Reader& reader, const Json& json) {
  DirtyBatch batch;
  batch.number = reader.number_of(json, "number");
  batch.whole_range = reader.flag_of(json, "whole_range");
  for (const Json& key : reader.list(json, "keys")) batch.keys.push_back(reader.bytes(key, "keys"));
  for (const Json& each : reader.new_list(json, "elements")) {
    if (!reader.tuple(each, 2, "elements")) return batch;
    Touched touched{.key = reader.bytes(each[0], "elements"), .elements = {}};
    for (const Json& element : each[1])
      touched.elements.push_back(reader.bytes(element, "elements"));
    batch.elements.push_back(std::move(touched));
  }
  return batch;
}

void read_sums(Reader& reader, const Json& list, heat::Report& report) {
  for (const Json& each : list) {
    if (!reader.tuple(each, 6, "sums")) return;
    const Token first{reader.number(each[0], "sums")};
    const Token last{reader.number(each[1], "sums")};
    if (last < first) return reader.note("sums: a range that ends before it begins");
    report.sums.push_back({.range = {first, last},
                           .node = NodeId{reader.small(each[2], "sums")},
                           .requests = reader.number(each[3], "sums"),
                           .writes = reader.number(each[4], "sums"),
                           .weight_ns = reader.number(each[5], "sums")});
  }
}

void read_samples(Reader& reader, const Json& list, heat::Report& report) {
  if (list.size() % 2 != 0) return reader.note("samples: want pairs");
  report.samples.reserve(list.size() / 2);
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
    report.samples.push_back({.token = Token{reader.number(list[i], "samples")},
                              .weight_ns = reader.small(list[i + 1], "samples")});
  }
}

void read_hot_keys(Reader& reader, const Json& list, heat::Report& report) {
  for (const Json& each : list) {
    if (!reader.tuple(each, 5, "hot_keys")) return;
    report.hot_keys.push_back({.key = reader.bytes(each[0], "hot_keys"),
                               .token = Token{reader.number(each[1], "hot_keys")},
                               .node = NodeId{reader.small(each[2], "hot_keys")},
                               .weight_ns = reader.number(each[3], "hot_keys"),
                               .error_ns = reader.number(each[4], "hot_keys")});
  }
}

// Routers of before do not tell them.
void read_scripts(Reader& reader, const Json& json, heat::Report& report) {
  if (!json.contains("scripts")) return;
  const Json& list = reader.list(json, "scripts");
  if (list.size() % 2 != 0) return reader.note("scripts: want pairs");
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
    const auto bucket = reader.number(list[i], "scripts", heat::kScriptBuckets - 1);
    report.scripts.push_back({.bucket = static_cast<std::uint16_t>(bucket),
                              .age_s = reader.small(list[i + 1], "scripts")});
  }
}

heat::Report report_of(Reader& reader, const Json& json) {
  heat::Report report;
  report.recorder = reader.number_of(json, "recorder");
  report.sequence = reader.number_of(json, "sequence");
  report.epoch = Epoch{reader.number_of(json, "epoch")};
  report.covers =
      nanoseconds{static_cast<std::int64_t>(reader.number_of(json, "covers_ns", INT64_MAX))};
  report.thinning = static_cast<std::uint32_t>(reader.number_of(json, "thinning", UINT32_MAX));
  if (report.thinning == 0) reader.note("thinning: want at least 1");
  read_sums(reader, reader.list(json, "sums"), report);
  read_samples(reader, reader.list(json, "samples"), report);
  read_hot_keys(reader, reader.list(json, "hot_keys"), report);
  read_scripts(reader, json, report);
  return report;
}

// Node 3's commands used these lives of its server.
using Incarnations = std::map<NodeId, std::vector<Incarnation>>;

Json json_of(const Incarnations& incarnations) {
  Json list = Json::array();
  for (const auto& [node, lives] : incarnations) {
    Json used = Json::array();
    for (const Incarnation& life : lives) used.push_back({life.run_id, life.replication_id});
    list.push_back({node.value(), std::move(used)});
  }
  return list;
}

Incarnations incarnations_of(Reader& reader, const Json& list) {
  Incarnations incarnations;
  for (const Json& each : list) {
    if (!reader.tuple(each, 2, "incarnations")) return {};
    std::vector<Incarnation>& lives = incarnations[NodeId{reader.small(each[0], "incarnations")}];
    for (const Json& life : each[1]) {
      if (!reader.tuple(life, 2, "incarnations")) return {};
      lives.push_back({.run_id = reader.text(life[0], "incarnations"),
                       .replication_id = reader.text(life[1], "incarnations")});
    }
  }
  return incarnations;
}

heat::CommandPrices prices_of(Reader& reader, const Json& map) {
  heat::CommandPrices prices;
  if (!map.is_object()) reader.note("prices: want a map");
  for (const auto& [command, price] : map.items()) {
    if (reader.result()) prices[command] = reader.small(price, "prices");
  }
  return prices;
}

}  // namespace

std::string write_question(const Question& question) {
  return packed({{"to", question.to.value()},
                 {"move", question.move.value()},
                 {"phase_epoch", question.phase_epoch.value()},
                 {"number", question.number},
                 {"prices", question.prices},
                 {"watch", binaries(question.watch)}});
}

Result<Question> read_question(std::string_view bytes) {
  Reader reader(bytes);
  const Json& root = reader.root();
  std::vector<std::string> watch;
  for (const Json& key : reader.new_list(root, "watch"))
    watch.push_back(reader.bytes(key, "watch"));
  return finish(reader, Question{.to = SessionId{reader.text(reader.field(root, "to"), "to")},
                                 .move = MoveId{reader.number_of(root, "move")},
                                 .phase_epoch = Epoch{reader.number_of(root, "phase_epoch")},
                                 .number = reader.number_of(root, "number"),
                                 .prices = prices_of(reader, reader.field(root, "prices")),
                                 .watch = std::move(watch)});
}

std::string write_done() { return packed(Json::object()); }

std::string write_batch(const DirtyBatch& batch) { return packed(json_of(batch)); }

Result<DirtyBatch> read_batch(std::string_view bytes) {
  Reader reader(bytes);
  DirtyBatch batch = batch_of(reader, reader.root());
  return finish(reader, std::move(batch));
}

std::string write_fenced(const FencedAck& ack) {
  return packed({{"last", json_of(ack.last)}, {"incarnations", json_of(ack.incarnations)}});
}

Result<FencedAck> read_fenced(std::string_view bytes) {
  Reader reader(bytes);
  FencedAck ack;
  ack.last = batch_of(reader, reader.field(reader.root(), "last"));
  ack.incarnations = incarnations_of(reader, reader.list(reader.root(), "incarnations"));
  return finish(reader, std::move(ack));
}

std::string write_reports(const std::vector<heat::Report>& reports) {
  Json list = Json::array();
  for (const heat::Report& report : reports) list.push_back(json_of(report));
  return packed({{"reports", std::move(list)}});
}

Result<std::vector<heat::Report>> read_reports(std::string_view bytes) {
  Reader reader(bytes);
  std::vector<heat::Report> reports;
  for (const Json& each : reader.list(reader.root(), "reports")) {
    if (!each.is_object()) reader.note("reports: want maps");
    reports.push_back(report_of(reader, each));
  }
  return finish(reader, std::move(reports));
}

std::string write_count(const std::uint64_t& keys) { return packed({{"keys", keys}}); }

Result<std::uint64_t> read_count(std::string_view bytes) {
  Reader reader(bytes);
  return finish(reader, reader.number_of(reader.root(), "keys"));
}

std::string write_error(const Error& error) {
  return packed({{"code", to_string(error.code)}, {"message", error.message}});
}

Error read_error(std::string_view bytes) {
  Reader reader(bytes);
  const std::string code = reader.text(reader.field(reader.root(), "code"), "code");
  const std::string message = reader.text(reader.field(reader.root(), "message"), "message");
  if (!reader.result()) return reader.result().error();
  return {parse_code(code).value_or(Code::kInvalid), message};
}

}  // namespace cleave::peer
