#include "sim/world/router_process.h"

#include <utility>

namespace cleave::sim {

RouterProcess::RouterProcess(Network& network, SimCoordinator& coordinator, PeerNetwork& peers,
                             Options options)
    : network_(network),
      coordinator_(coordinator),
      peers_(peers),
      options_(std::move(options)),
      process_(network.add_process(options_.address.host)) {
  process_.set_rate(options_.clock_rate);
}

RouterProcess::~RouterProcess() {
  if (running()) crash(Death::kProcess);
}

void RouterProcess::start() {
  if (!process_.alive()) network_.start(process_);
  ++lives_;
  session_ = SessionId{options_.name + "-" + std::to_string(lives_)};
  serving_ = started_ = wants_restart_ = false;
  view_ = Epoch{};
  control_loop_ = std::make_unique<SimLoop>(network_, process_);
  for (std::size_t i = 0; i < options_.workers; ++i)
    worker_loops_.push_back(std::make_unique<SimLoop>(network_, process_));
  store_ = std::make_unique<SimRegister>(coordinator_, *control_loop_);
  directory_ = std::make_unique<PeerDirectory>(peers_, *control_loop_, session_);
  controller_ = make_controller();
  router_ = make_router();
  peers_.add(session_, *control_loop_, *router_);
  control_loop_->post([this] { controller_->start(); });
}

std::unique_ptr<control::Controller> RouterProcess::make_controller() {
  return std::make_unique<control::Controller>(control::Controller::Options{
      .loop = *control_loop_,
      .store = *store_,
      .directory = *directory_,
      .session = session_,
      .creation = options_.creation,
      .credentials = {},
      .limits = options_.limits,
      .seed = options_.seed * 1'000 + lives_,
      .balance = false,
      .mark_new_servers = false,
      .lease = options_.lease,
      .mutations = options_.mutations,
      .publish = [this](ring::RingSnapshot view) { publish(std::move(view)); },
      .removed = [this](const Error& why) { removed(why); },
      .log = [this](const std::string& line) { log(line); },
      .decided =
          [this](const control::Decision& decision) {
            log(decision.kind + " " + decision.subject + ": " + decision.reason);
          }});
}

std::unique_ptr<proxy::Router> RouterProcess::make_router() {
  std::vector<net::Loop*> workers;
  for (const auto& loop : worker_loops_) workers.push_back(loop.get());
  return std::make_unique<proxy::Router>(
      proxy::Router::Options{.control = *control_loop_,
                             .workers = std::move(workers),
                             .listen = {options_.address},
                             .gate = *controller_,
                             .fence_keeper = *controller_,
                             .key_counter = *controller_,
                             .credentials = {},
                             .client_password = {},
                             .limits = options_.limits,
                             .seed = options_.seed * 1'000 + lives_,
                             .mutations = options_.mutations});
}

void RouterProcess::publish(ring::RingSnapshot view) {
  if (view->epoch() <= view_)
    options_.broken("view: " + session_.value() + " goes from epoch " +
                    std::to_string(view_.value()) + " to " + std::to_string(view->epoch().value()));
  view_ = view->epoch();
  if (std::exchange(started_, true)) return router_->set_view(std::move(view));
  router_->start(std::move(view), [this](Result<void> ready) {
    serving_ = ready.has_value();
    if (!ready) log("cannot serve: " + ready.error().message);
  });
}

void RouterProcess::removed(const Error& why) {
  log("removed: " + why.message);
  if (started_) router_->stop(why);
  serving_ = false;
  wants_restart_ = true;
}

void RouterProcess::stop() {
  controller_->stop([this] {
    if (started_) router_->stop({Code::kUnavailable, "the router is stopping"});
    serving_ = false;
    wants_restart_ = true;
  });
}

void RouterProcess::log(const std::string& line) {
  if (options_.log) options_.log(session_.value(), line);
}

void RouterProcess::crash(Death death) {
  peers_.remove(session_);
  network_.crash(process_, death);
  serving_ = false;
  router_.reset();
  controller_.reset();
  directory_.reset();
  store_.reset();
  for (std::unique_ptr<SimLoop>& loop : worker_loops_) bury(std::move(loop));
  worker_loops_.clear();
  bury(std::move(control_loop_));
}

void RouterProcess::bury(std::unique_ptr<SimLoop> loop) {
  loop->abandon();
  dead_loops_.push_back(std::move(loop));
}

}  // namespace cleave::sim
