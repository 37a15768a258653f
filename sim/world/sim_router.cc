#include "sim/world/sim_router.h"

#include <utility>

#include "base/check.h"

namespace cleave::sim {

SimRouter::SimRouter(Network& network, SimCoordinator& coordinator, Options options)
    : network_(network),
      coordinator_(coordinator),
      options_(std::move(options)),
      process_(network.add_process(options_.address.host)) {
  process_.set_rate(options_.clock_rate);
}

SimRouter::~SimRouter() {
  if (running()) crash(Death::kProcess);
}

void SimRouter::start() {
  if (!process_.alive()) network_.start(process_);
  ++lives_;
  session_ = SessionId{options_.name + "-" + std::to_string(lives_)};
  serving_ = wants_restart_ = false;
  view_ = Epoch{};
  control_loop_ = std::make_unique<SimLoop>(network_, process_);
  for (std::size_t i = 0; i < options_.workers; ++i)
    worker_loops_.push_back(std::make_unique<SimLoop>(network_, process_));
  store_ = std::make_unique<SimRegister>(coordinator_, *control_loop_);
  assembly_ = assemble();
  control_loop_->post([this] { assembly_->start(); });
}

std::unique_ptr<assembly::Assembly> SimRouter::assemble() {
  std::vector<net::Loop*> workers;
  for (const auto& loop : worker_loops_) workers.push_back(loop.get());
  Result<std::unique_ptr<assembly::Assembly>> made = assembly::Assembly::make(
      {.control = *control_loop_,
       .workers = std::move(workers),
       .store = *store_,
       .facts = *this,
       .session = session_,
       .listen = {options_.address},
       .door = {.address = options_.door, .token = "a token"},
       .begin = {.creation = options_.creation},
       .plan = {.constants = options_.constants, .enabled = options_.balance},
       .tell = {.log = [this](const std::string& line) { log(line); },
                .decided =
                    [this](const control::DecisionRecord& decision) {
                      log(decision.kind + " " + decision.subject + ": " + decision.reason);
                    }},
       .limits = options_.limits,
       .seed = options_.seed * 1'000 + lives_,
       .lease = options_.lease,
       .spares_coordinator = options_.spares_coordinator,
       .mutations = options_.mutations,
       .adopted = [this](const ring::RingSnapshot& view) { adopted(view); },
       .ready =
           [this](const Result<void>& ready) {
             serving_ = ready.has_value();
             if (!ready) log("cannot serve: " + ready.error().message);
           },
       .removed =
           [this](const Error& why) {
             log("removed: " + why.message);
             serving_ = false;
             wants_restart_ = true;
           }});
  CHECK(made.has_value());
  return std::move(*made);
}

void SimRouter::adopted(const ring::RingSnapshot& view) {
  if (view->epoch() <= view_)
    options_.broken("view: " + session_.value() + " goes from epoch " +
                    std::to_string(view_.value()) + " to " + std::to_string(view->epoch().value()));
  view_ = view->epoch();
}

void SimRouter::identify(const net::Address& address,
                         std::function<void(Result<std::string>)> done) {
  control_loop_->post([address, done = std::move(done)] {
    done(fail(Code::kUnavailable, net::to_string(address) + " was not asked"));
  });
}

void SimRouter::stop() {
  assembly_->stop([this] {
    serving_ = false;
    wants_restart_ = true;
  });
}

void SimRouter::log(const std::string& line) {
  if (options_.log) options_.log(session_.value(), line);
}

void SimRouter::crash(Death death) {
  network_.crash(process_, death);
  serving_ = false;
  assembly_.reset();
  store_.reset();
  for (std::unique_ptr<SimLoop>& loop : worker_loops_) bury(std::move(loop));
  worker_loops_.clear();
  bury(std::move(control_loop_));
}

void SimRouter::bury(std::unique_ptr<SimLoop> loop) {
  loop->abandon();
  dead_loops_.push_back(std::move(loop));
}

}  // namespace cleave::sim
