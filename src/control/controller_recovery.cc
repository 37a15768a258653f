// What a person orders where the coordinator holds no ring (control/recovery.h).

#include <utility>

#include "base/guarded.h"
#include "control/controller.h"
#include "control/controller_impl.h"

namespace cleave::control {

void Controller::Impl::situation(const Operator::Done<RingSituation>& done) {
  if (membership.view() != nullptr)
    return options.loop.post([done] { done(RingSituation{.held = "", .has_ring = true}); });
  first_ring().look().ask(guarded(alive, [this, done](const std::vector<FoundServer>& found) {
    done(RingSituation{.held = membership.held(), .has_ring = false, .servers = found});
  }));
}

// Created iff nothing was ever written; this router and the others join it with their next try.
void Controller::Impl::begin_anew(const Operator::Done<void>& done) {
  if (membership.view() != nullptr)
    return options.loop.post(
        [done] { done(fail(Code::kConflict, "the coordinator has a ring of this pool")); });
  first_ring().look().ask(guarded(alive, [this, done](const std::vector<FoundServer>& found) {
    if (const Result<void> idle = nobody_at_work(found); !idle) return done(idle);
    Result<ring::Document> made = ring::create(options.creation);
    if (!made) return done(std::unexpected(made.error()));
    options.log("a new ring is begun by a person's order");
    writer.create(std::move(*made), guarded(alive, [done](const Result<SharedDocument>& created) {
                    done(created ? Result<void>() : std::unexpected(created.error()));
                  }));
  }));
}

void Controller::Impl::restore(RestoreOrder order, const Operator::Done<RestoreReport>& done) {
  if (membership.view() != nullptr || restoring != nullptr) {
    const char* why = restoring != nullptr ? "a ring is being restored at this moment"
                                           : "the coordinator has a ring of this pool";
    return options.loop.post([done, why] { done(fail(Code::kConflict, why)); });
  }
  restoring = std::make_unique<RingRestore>(
      RingRestore::Options{.loop = options.loop,
                           .writer = writer,
                           .credentials = options.credentials,
                           .limits = options.limits,
                           .session = options.session,
                           .pool = options.creation.pool,
                           .seed = options.seed},
      std::move(order), [this, done](const Result<RestoreReport>& report) {
        if (report && report->written)
          options.log("a saved ring is restored by a person's order, as epoch " +
                      std::to_string(report->epoch.value()));
        // Not at once: it is what calls.
        options.loop.post(guarded(alive, [this] { restoring.reset(); }));
        done(report);
      });
  restoring->start();
}

// ---- the public face ----------------------------------------------------------------------------

void Controller::situation(Done<RingSituation> done) { impl_->situation(done); }

void Controller::begin_anew(Done<void> done) { impl_->begin_anew(done); }

void Controller::restore(RestoreOrder order, Done<RestoreReport> done) {
  impl_->restore(std::move(order), done);
}

void Controller::take_over(std::vector<NodeId> nodes, Done<void> done) {
  if (impl_->links == nullptr)
    return impl_->options.loop.post(
        [done = std::move(done), why = impl_->not_leading()] { done(std::unexpected(why)); });
  impl_->links->take_over(nodes, std::move(done));
}

}  // namespace cleave::control
