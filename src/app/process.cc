#include "app/process.h"

#include <unistd.h>

#include <utility>

#include "base/hash.h"

namespace cleave::app {
namespace {

// A name that never returns: process id, time and seed. Two routers cannot share all three.
SessionId new_session(std::uint64_t seed, UnixMillis now) {
  const std::string life = std::to_string(::getpid()) + "/" + std::to_string(now.value()) + "/" +
                           std::to_string(seed);
  return SessionId{"r" + std::to_string(::getpid()) + "-" +
                   ring::to_hex(Token{xxh3_64(life)}).substr(0, 8)};
}

}  // namespace

// The one router that this process knows as a peer, and what its data path may ask of control.
class Process::Self final : public peer::Directory, public peer::FenceKeeper {
 public:
  explicit Self(Process& process) : process_(process) {}

  peer::RouterPeer* find(const SessionId& session) override {
    return session == process_.controller_->session() ? process_.router_.get() : nullptr;
  }
  void abort_held_move(MoveId move, Epoch phase_epoch) override {
    process_.controller_->abort_held_move(move, phase_epoch);
  }

 private:
  Process& process_;
};

class Process::Facts final : public admin::RouterFacts {
 public:
  explicit Facts(proxy::Router& router) : router_(router) {}
  std::vector<proxy::NodeHealth> health() const override { return router_.health(); }
  void stats(std::function<void(proxy::RouterStats)> done) override {
    router_.stats(std::move(done));
  }

 private:
  proxy::Router& router_;
};

Result<std::unique_ptr<Process>> Process::create(Options options) {
  // NOLINTNEXTLINE(modernize-make-unique): the constructor is private.
  std::unique_ptr<Process> process(new Process(std::move(options)));
  Result<void> opened = process->open();
  if (!opened) return std::unexpected(opened.error());
  return process;
}

Process::Process(Options options)
    : options_(std::move(options)),
      control_loop_(net::make_loop()),
      self_(std::make_unique<Self>(*this)) {
  for (std::uint32_t i = 0; i < options_.workers; ++i) worker_loops_.push_back(net::make_loop());
}

Result<void> Process::open() {
  auto store = coord::open_sqlite_register(
      *control_loop_, {.path = options_.register_path, .pool = options_.creation.pool});
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);

  options_.creation.now = control_loop_->wall_now();
  const SessionId session = new_session(options_.seed, control_loop_->wall_now());
  controller_ = std::make_unique<control::Controller>(control::Controller::Options{
      .loop = *control_loop_,
      .store = *store_,
      .directory = *self_,
      .session = session,
      .creation = options_.creation,
      .credentials = options_.credentials,
      .limits = options_.limits,
      .seed = options_.seed,
      .balance = options_.balance,
      .mark_new_servers = options_.mark_new_servers,
      .publish = [this](const ring::RingSnapshot& view) { publish(view); },
      .removed = [this](const Error& why) { end(std::unexpected(why)); },
      .log = options_.log,
      .decided = options_.decided});

  std::vector<net::Loop*> workers;
  for (const auto& loop : worker_loops_) workers.push_back(loop.get());
  router_ = std::make_unique<proxy::Router>(
      proxy::Router::Options{.control = *control_loop_,
                             .workers = std::move(workers),
                             .listen = options_.listen,
                             .gate = *controller_,
                             .fence_keeper = *self_,
                             .credentials = options_.credentials,
                             .client_password = options_.client_password,
                             .limits = options_.limits,
                             .seed = options_.seed});

  facts_ = std::make_unique<Facts>(*router_);
  api_ = std::make_unique<admin::Api>(
      admin::Api::Options{.order_taker = *controller_,
                          .router = *facts_,
                          .token = options_.admin_token,
                          .wall_now = [this] { return control_loop_->wall_now(); },
                          .history = nullptr});
  auto http = net::HttpServer::listen(
      *control_loop_, options_.admin,
      [this](const net::HttpRequest& request, net::HttpServer::Reply reply) {
        api_->handle(request, std::move(reply));
      });
  if (!http) return std::unexpected(http.error());
  http_ = std::move(*http);
  return {};
}

Result<void> Process::run(std::function<void(Process&)> ready) {
  ready_ = std::move(ready);
  for (const auto& loop : worker_loops_)
    worker_threads_.emplace_back([worker = loop.get()] { worker->run(); });
  controller_->start();
  control_loop_->run();
  return result_;
}

// The first view starts the data path, later ones go to it.
void Process::publish(const ring::RingSnapshot& view) {
  if (std::exchange(router_started_, true)) return router_->set_view(view);
  router_->start(view, [this](Result<void> started) {
    if (stopping_) return;
    if (!started) return end(std::move(started));
    if (ready_) ready_(*this);
  });
}

void Process::stop() {
  control_loop_->post([this] { begin_stop(); });
}

// Moves first: they need the routers' answers. Then the clients are told, then all loops end.
void Process::begin_stop() {
  if (std::exchange(stopping_, true)) return;
  controller_->stop([this] { end({}); });
}

void Process::end(Result<void> result) {
  stopping_ = true;
  result_ = std::move(result);
  router_->stop(result_ ? Error{Code::kUnavailable, "the router is being stopped"}
                        : result_.error());
  control_loop_->stop();
}

// Workers first: what they post to the control loop finds it alive. Then whoever uses others before
// what it uses.
Process::~Process() {
  http_.reset();
  api_.reset();
  if (router_ != nullptr) router_->stop(Error{Code::kUnavailable, "the router ends"});
  for (const auto& loop : worker_loops_) loop->post([worker = loop.get()] { worker->stop(); });
  for (std::thread& thread : worker_threads_) thread.join();
  facts_.reset();
  router_.reset();
  controller_.reset();
  store_.reset();
}

}  // namespace cleave::app
