// A ring that the coordinator has forgotten (control/begin/recovery.h), as HTTP.
#include <utility>

#include "admin/answers.h"
#include "admin/api.h"
#include "admin/body.h"
#include "admin/render.h"

namespace cleave::admin {
namespace {

Json render_found(const control::FoundServer& server) {
  return {{"name", server.node},
          {"address", server.address},
          {"reachable", server.error.empty()},
          {"error", server.error},
          {"mark", server.mark},
          {"pool", server.note.pool},
          {"node", server.note.node},
          {"server", server.note.server},
          {"epoch", server.note.epoch.value()},
          {"written_ms", server.note.written.value()},
          {"keys", server.keys},
          {"version", server.version},
          {"routers", server.routers}};
}

Json render_situation(const control::RingSituation& situation) {
  Json servers = Json::array();
  for (const control::FoundServer& server : situation.servers)
    servers.push_back(render_found(server));
  return {{"ring", situation.has_ring}, {"held", situation.held}, {"servers", std::move(servers)}};
}

Json render_keys(const control::KeysFound& found) {
  return {{"looked", found.looked},
          {"elsewhere", found.elsewhere},
          {"lost", found.lost},
          {"examples", found.examples}};
}

Json render_kept(const control::RestoreReport& report, const ring::Document& saved) {
  Json kept = Json::array();
  for (std::size_t i = 0; i < report.kept.size(); ++i) {
    const ring::Leftover& entry = report.kept[i];
    Json json = {{"move", entry.move.value()},
                 {"node", name_of(saved, entry.node)},
                 {"ranges", render_ranges(entry.ranges)},
                 {"why", entry.why}};
    if (i < report.under.size()) json["looked_at"] = render_keys(report.under[i]);
    kept.push_back(std::move(json));
  }
  return kept;
}

Json render_report(const control::RestoreReport& report, const ring::Document& saved) {
  Json servers = Json::array();
  for (std::size_t i = 0; i < report.servers.size(); ++i) {
    Json server = render_found(report.servers[i]);
    server["looked_at"] = render_keys(report.keys[i]);
    servers.push_back(std::move(server));
  }
  return {{"written", report.written},         {"saved_epoch", report.saved.value()},
          {"told_epoch", report.told.value()}, {"epoch", report.epoch.value()},
          {"doubts", report.doubts},           {"servers", std::move(servers)},
          {"kept", render_kept(report, saved)}};
}

// A ring document is at most ring::kTextBytesMax long, and the order that brings it little more.
constexpr std::size_t kSavedRingBytesMax = ring::kTextBytesMax + 4'096;

Error no_recovery() { return {Code::kNotFound, "this router does not do that"}; }

}  // namespace

void Api::get_recovery(const Done& done) {
  if (options_.recovery == nullptr) return done(error_response(no_recovery()));
  options_.recovery->situation([done](const Result<control::RingSituation>& situation) {
    done(situation ? ok(render_situation(*situation)) : error_response(situation.error()));
  });
}

std::size_t Api::body_bytes_max(const net::HttpRequest& head) const {
  const bool brings_ring = head.method == "POST" && head.path == "/recovery";
  return brings_ring && !refusal(head) ? kSavedRingBytesMax : net::HttpLimits{}.body_bytes_max;
}

milliseconds Api::answer_timeout(const net::HttpRequest& request) {
  constexpr milliseconds kLookedMax{30'000};  // some answers need a look at many keys
  constexpr milliseconds kMore{30'000};       // what a restoration does beside its look
  const bool restores = request.method == "POST" && request.path == "/recovery";
  return restores ? control::RingRestore::kLookMax + kMore : kLookedMax;
}

void Api::post_recovery(const net::HttpRequest& request, const Done& done) {
  Body body(request.body);
  const std::string text = body.json("document");
  control::RestoreOrder order;
  order.rename = body.flag("rename");
  order.force = body.flag("force");
  order.dry_run = body.flag("dry_run");
  const Result<void> read = body.finish();
  Result<ring::Document> saved = read ? ring::parse_document(text) : std::unexpected(read.error());
  if (!saved || options_.recovery == nullptr)
    return done(error_response(saved ? no_recovery() : saved.error()));
  order.saved = *saved;
  options_.recovery->restore(
      std::move(order), [done, saved = *saved](const Result<control::RestoreReport>& report) {
        done(report ? ok(render_report(*report, saved)) : error_response(report.error()));
      });
}

// Two steps, for the markers are the leader's to write: first a ring, then the servers.
void Api::adopt_anew(control::AdoptOrder order, const Done& done) {
  if (options_.recovery == nullptr) return done(error_response(no_recovery()));
  const bool first = options_.order_taker.status().view == nullptr;
  const auto answer = [done, first](const Result<void>& result) {
    done(result ? ok({{"ok", true}, {"created", first}}) : error_response(result.error()));
  };
  if (first) return options_.recovery->begin_anew(order.force, answer);
  options_.recovery->take_over(std::move(order), answer);
}

}  // namespace cleave::admin
