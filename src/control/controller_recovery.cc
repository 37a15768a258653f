// What a person orders where the coordinator holds no ring (control/begin/recovery.h).

#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/controller.h"
#include "control/controller_impl.h"

namespace cleave::control {
namespace {

std::vector<NodeId> ids_of(const ring::Document& document) {
  std::vector<NodeId> ids;
  for (const ring::Node& node : document.nodes) ids.push_back(node.id);
  return ids;
}

}  // namespace

void Controller::Impl::situation(Done<RingSituation> done) {
  if (membership.view() != nullptr)
    return options.loop.post([done] { done(RingSituation{.held = "", .has_ring = true}); });
  first_ring().look().ask(guarded(alive, [this, done](const std::vector<FoundServer>& found) {
    done(RingSituation{.held = membership.held(), .has_ring = false, .servers = found});
  }));
}

// Created iff nothing was ever written; this router and the others join it with their next try.
void Controller::Impl::begin_anew(Force force, Done<void> done) {
  if (membership.view() != nullptr || surveying != nullptr) {
    const char* why = surveying != nullptr ? "a new ring is being begun at this moment"
                                           : "the coordinator has a ring of this pool";
    return options.loop.post([done, why] { done(fail(Code::kConflict, why)); });
  }
  first_ring().look().ask(
      guarded(alive, [this, force, done](const std::vector<FoundServer>& found) {
        if (const Result<void> idle = nobody_at_work(found); !idle) return done(idle);
        const Result<ring::Document> made = ring::create(options.begin.creation);
        if (!made) return done(std::unexpected(made.error()));
        if (force == Force::kYes) return begin_ring(*made, done);
        const Result<ring::RingSnapshot> view = ring::RingView::build(*made);
        if (!view) return done(std::unexpected(view.error()));
        surveying = std::make_unique<FirstSurvey>(
            ServerLook::Options{.loop = options.loop,
                                .nodes = {},
                                .credentials = options.servers.credentials,
                                .limits = options.limits,
                                .session = options.document.session,
                                .seed = options.seed},
            *view, [this, made = *made, done](const Survey& survey) {
              // Not at once: it is what calls.
              options.loop.post(guarded(alive, [this] { surveying.reset(); }));
              const Result<void> fits = check_adoption(survey, ids_of(made), made);
              if (!fits) return done(fits);
              begin_ring(made, done);
            });
        surveying->start();
      }));
}

void Controller::Impl::begin_ring(const ring::Document& made, const Done<void>& done) {
  CHECK(membership.view() == nullptr && made.epoch != Epoch{});
  options.tell.log("a new ring is begun by a person's order");
  writer.create(made, guarded(alive, [done](const Result<SharedDocument>& created) {
                  done(created ? Result<void>() : std::unexpected(created.error()));
                }));
}

void Controller::Impl::take_over(AdoptOrder order, Done<void> done) {
  CHECK(done != nullptr);
  if (links == nullptr)
    return options.loop.post([done, why = not_leading()] { done(std::unexpected(why)); });
  if (order.force == Force::kYes) return links->take_over(order.nodes, done);
  survey([this, order, done](const Result<Survey>& found) {
    if (!found) return done(std::unexpected(found.error()));
    const Result<void> fits = check_adoption(*found, order.nodes, membership.view()->document());
    if (!fits) return done(fits);
    links->take_over(order.nodes, done);
  });
}

void Controller::Impl::restore(RestoreOrder order, Done<RestoreReport> done) {
  if (membership.view() != nullptr || restoring != nullptr) {
    const char* why = restoring != nullptr ? "a ring is being restored at this moment"
                                           : "the coordinator has a ring of this pool";
    return options.loop.post([done, why] { done(fail(Code::kConflict, why)); });
  }
  restoring = std::make_unique<RingRestore>(
      RingRestore::Options{.loop = options.loop,
                           .writer = writer,
                           .credentials = options.servers.credentials,
                           .limits = options.limits,
                           .session = options.document.session,
                           .pool = options.begin.creation.pool,
                           .seed = options.seed},
      std::move(order), [this, done](const Result<RestoreReport>& report) {
        if (report && report->written)
          options.tell.log("a saved ring is restored by a person's order, as epoch " +
                           std::to_string(report->epoch.value()));
        // Not at once: it is what calls.
        options.loop.post(guarded(alive, [this] { restoring.reset(); }));
        done(report);
      });
  CHECK(membership.view() == nullptr);
  restoring->start();
}

}  // namespace cleave::control
