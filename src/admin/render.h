// The answers' JSON. Names of fields are a contract: added to, never changed. Tokens are strings of
// hexadecimal digits (64 bit does not survive a double); times of day are milliseconds since 1970.
//
// Pure. Threads: any.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/router_facts.h"
#include "control/orders/presplit.h"
#include "control/orders/status.h"
#include "control/orders/stray_orders.h"
#include "history/store.h"
#include "ring/view/view.h"

namespace cleave::admin {

using Json = nlohmann::ordered_json;

// What a status is made of.
struct Facts {
  const control::Status& status;
  const std::vector<proxy::NodeHealth>& health;
  const proxy::RouterStats& router;
  const StateBook* states = nullptr;
  ProcessUsage process = {};
};

// The routers of the pool; views and when they were heard are the leader's knowledge.
Json render_routers(const control::Status& status);
Json render_status(const Facts& facts);
// Requires in all below: status.view is there.
Json render_ring(const ring::RingView& view);
Json render_moves(const control::Status& status);
Json render_decisions(const control::Status& status);
Json render_decision(const control::DecisionRecord& decision);
// The last plan: what it would move and merge, and why not more. Empty lists before the first.
Json render_plan(const control::Status& status);
// What is expected, and where each event stands at this time.
Json render_events(const ring::Document& document, UnixMillis now);
// What would be done, or is, for what a person announced.
Json render_presplit(const control::Presplit& presplit, const ring::Document& document,
                     UnixMillis now);
// How hot everything is now; {"observed_ms": 0} where this router does not lead or has not looked.
Json render_heat(const control::Status& status);
// Stored heat: {"points": [{"at_ms", "covers_ms", "nodes": [..], "strips": [..]}]}.
Json render_history(const std::vector<history::HeatPoint>& points, const ring::Document& document);
// Stored decisions, newest first.
Json render_stored(const std::vector<history::StoredDecision>& decisions);
Json render_survey(const control::Survey& survey, const ring::Document& document);
// What is known of a node's strays; `keys`: how many keys it has.
Json render_strays(const control::StrayFacts& strays, std::uint64_t keys,
                   const ring::Document& document);
// A scheme that finds the keys, or null.
Json render_fit(const std::optional<ring::SchemeFit>& fit);
// `other_databases` and `scripts` of a server.
void add_unrouted(Json& json, const control::NodeFacts& facts);
Json render_handled(const control::StraysHandled& handled);
Json render_dumps(const control::StrayDumps& dumps);
Json render_stray_list(const control::StrayList& list, const control::Status& status);
Json render_place(std::string_view key, const ring::RingView& view);

// {"first": "00..", "last": "ff.."}, and a list of such.
Json render_range(const ring::TokenRange& range);
Json render_ranges(const ring::RangeSet& ranges);

// Whether the routers were heard for long enough to say how hot anything is.
bool heat_is_known(const control::Status& status);
// The hottest key, what is planned, and why not more; left out where this router does not know.
void add_outlook(Json& json, const control::Status& status);
// A node's load beside what it should carry by its weight, in millionths; nullopt: not known yet.
std::optional<std::uint64_t> load_ratio_ppm(const control::Status& status, NodeId node);

// The node's name, or "?" for a node that is gone.
std::string name_of(const ring::Document& document, NodeId node);

// Text of a body: one line. Bytes that are no UTF-8 become replacement characters.
std::string to_body(const Json& json);

}  // namespace cleave::admin
