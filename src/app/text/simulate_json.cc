#include "app/text/simulate_json.h"

#include <cmath>

namespace cleave::app {
namespace {

// Four digits behind the point are more than a simulation knows.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Json to_json(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(); }

Json to_json(const ring::TokenRange& range) {
  return {{"first", ring::to_hex(range.first)}, {"last", ring::to_hex(range.last)}};
}

Json to_json(const rehearse::Moment& moment) {
  return {{"at", moment.at.count()},
          {"node_load", moment.node_load},
          {"node_bytes", moment.node_bytes},
          {"stripe_load", moment.stripe_load},
          {"peak_ppm", moment.peak_ppm},
          {"bound_ppm", moment.bound_ppm},
          {"moves_under_way", moment.moves_under_way}};
}

Json to_json(const rehearse::RecordedNode& node) {
  return {{"name", node.name}, {"rack", node.rack}, {"capacity", node.capacity}};
}

Json to_json(const rehearse::RecordedMove& move) {
  Json ranges = Json::array();
  for (const ring::TokenRange& range : move.ranges) ranges.push_back(to_json(range));
  return {{"began", move.began.count()}, {"ended", move.ended.count()},
          {"source", move.source},       {"destination", move.destination},
          {"ranges", std::move(ranges)}, {"load", move.load},
          {"keys", move.keys},           {"bytes", move.bytes},
          {"committed", move.committed}, {"reason", move.reason}};
}

Json to_json(const rehearse::RecordedCut& cut) {
  Json json = to_json(cut.range);
  json["owner"] = cut.owner;
  json["from"] = cut.from.count();
  json["until"] = cut.until.count();
  return json;
}

template <class Item>
Json to_json(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& each : items) list.push_back(to_json(each));
  return list;
}

}  // namespace

Json summary_json(const rehearse::Summary& summary) {
  Json json = {{"peak_over_mean_start", rounded(summary.peak_over_mean_start)},
               {"peak_over_mean", rounded(summary.peak_over_mean)},
               {"lower_bound", rounded(summary.lower_bound)},
               {"load_moved_over_bound", rounded(summary.load_moved_over_bound)},
               {"keys_moved", summary.keys_moved},
               {"keys_moved_bound", summary.keys_moved_bound},
               {"moves", summary.moves},
               {"cuts", summary.cuts},
               {"merges", summary.merges},
               {"oscillations", summary.oscillations},
               {"ranges", summary.ranges},
               {"seconds_to_detect", to_json(summary.seconds_to_detect)},
               {"seconds_to_converge", to_json(summary.seconds_to_converge)}};
  if (!summary.memory) return json;
  const rehearse::MemorySummary& memory = *summary.memory;
  json["bytes_peak_over_mean_start"] = rounded(memory.peak_over_mean_start);
  json["bytes_peak_over_mean"] = rounded(memory.peak_over_mean);
  json["bytes_lower_bound"] = rounded(memory.lower_bound);
  json["bytes_moved"] = memory.bytes_moved;
  json["bytes_moved_bound"] = memory.bytes_moved_bound;
  json["bytes_seconds_to_converge"] = to_json(memory.seconds_to_converge);
  return json;
}

Json record_json(const rehearse::Record& record) {
  return {{"workload", record.workload},
          {"policy", record.policy},
          {"seed", record.seed},
          {"keys", record.keys},
          {"nodes", to_json(record.nodes)},
          {"moments", to_json(record.moments)},
          {"moves", to_json(record.moves)},
          {"cuts", to_json(record.cuts)}};
}

}  // namespace cleave::app
