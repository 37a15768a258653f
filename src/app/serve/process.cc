#include "app/serve/process.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "admin/api.h"
#include "admin/render.h"
#include "app/config/config_drift.h"
#include "app/entropy.h"
#include "app/serve/coordinator.h"
#include "app/serve/decision_follower.h"
#include "app/serve/identify_server.h"
#include "app/serve/saved_rings.h"
#include "app/serve/state_watch.h"
#include "app/version.h"
#include "control/controller.h"
#include "control/observe/usual_levels.h"
#include "history/store.h"
#include "net/asio_loop.h"
#include "net/descriptors.h"
#include "peer/http_directory.h"
#include "peer/http_service.h"
#include "supervise/process_usage.h"

namespace cleave::app {
namespace {

constexpr seconds kStopPatience{6};
constexpr seconds kRememberEvery{10};  // a point of the stored heat
constexpr seconds kRecallEvery{600};   // how hot it usually is at this hour
// A document of this epoch was made by this process: created, then joined.
constexpr Epoch kJustCreated{2};
constexpr milliseconds kMarkLook{10};
constexpr milliseconds kMarkPatience{3'000};

std::vector<net::Address> listen_addresses(const Config& config) {
  std::vector<net::Address> addresses;
  for (const ListenerConfig& listener : config.listeners) addresses.push_back(listener.address);
  return addresses;
}

ring::Creation creation_of(const Config& config) {
  return {.pool = config.pool.name,
          .mark = random_name(),
          .nodes = config.pool.nodes,
          .scheme = config.pool.scheme,
          .mode = config.balance.mode,
          .now = SystemClock().wall_now()};
}

// Empty: this machine has saved none yet.
std::string saved_rings_there(const Config& config) {
  std::error_code ignored;
  const std::string& folder = config.coordination.saved_rings;
  return std::filesystem::is_directory(folder, ignored) ? folder : std::string();
}

}  // namespace

// Everything is made before the threads start and destroyed after they ended; in between, each
// object is used on its own loop only.
class RouterProcess::Impl final : public admin::RouterFacts {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}
  ~Impl() override { stop(); }

  Result<void> start();

  bool serving() const override { return !router_->addresses().empty(); }
  std::vector<proxy::NodeHealth> health() const override { return router_->health(); }
  void stats(std::function<void(proxy::RouterStats)> done) override {
    router_->stats(std::move(done));
  }

  admin::ProcessUsage usage() const override {
    const supervise::ProcessUsage now = supervise::process_usage();
    return {.version = kVersion,
            .started = started_,
            .cpu = now.cpu,
            .resident_bytes = now.resident_bytes,
            .open_files = now.open_files,
            .open_files_max = now.open_files_max};
  }
  const admin::StateBook& states() const override { return watch_->book(); }
  const admin::PastDecisions* past_decisions() const override { return &follower_->past(); }
  void identify(const net::Address& address,
                std::function<void(Result<std::string>)> done) override {
    looks_->run_id(address, std::move(done));
  }

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  Error error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  net::Address admin_address() const { return http_->address(); }
  control::Controller& controller() { return *controller_; }
  proxy::Router& router() { return *router_; }

  // Runs on the control loop; waits for the value that `ask` hands to its argument.
  template <class T>
  T ask(const std::function<void(std::function<void(T)>)>& question) {
    std::promise<T> answer;
    std::future<T> future = answer.get_future();
    control_->post([&] { question([&answer](T value) { answer.set_value(std::move(value)); }); });
    return future.get();
  }

 private:
  void note(const std::string& text) { options_.log({.text = text}); }
  void make_loops();
  Result<void> listen();
  void answer(const net::HttpRequest& request, const net::HttpServer::Reply& reply);
  std::function<Instant()> last_asked() const;
  void make_controller();
  void make_router();
  void warn_of_few_descriptors();
  void publish(ring::RingSnapshot view);
  void route_when_marked(Instant until);
  bool all_marked() const;
  void make_history();
  void make_saved_rings();
  void remember_heat();
  void recall_usual();
  void enter(State state, const Error& error);
  void stop();

  Options options_;
  UnixMillis started_ = SystemClock().wall_now();
  SessionId session_{random_name()};
  std::unique_ptr<net::AsioLoop> control_;
  std::vector<std::unique_ptr<net::AsioLoop>> workers_;
  std::unique_ptr<coord::Register> store_;
  SystemClock clock_;
  std::unique_ptr<history::Store> history_;
  std::unique_ptr<SavedRings> saved_rings_;
  std::unique_ptr<peer::HttpDirectory> directory_;
  std::unique_ptr<control::Controller> controller_;
  std::unique_ptr<proxy::Router> router_;
  std::unique_ptr<peer::HttpService> peer_service_;
  std::unique_ptr<StateWatch> watch_;
  std::unique_ptr<DecisionFollower> follower_;
  std::unique_ptr<ServerLooks> looks_;
  std::unique_ptr<admin::Api> api_;
  std::unique_ptr<net::HttpServer> http_;
  std::vector<std::thread> threads_;
  ring::RingSnapshot view_;  // control loop: the newest
  bool routing_ = false;     // control loop: the router has its first view

  mutable std::mutex mutex_;  // guards the two below: the control loop writes, the owner reads
  State state_ = State::kStarting;
  Error error_;
};

Result<void> RouterProcess::Impl::start() {
  make_loops();
  Result<std::unique_ptr<coord::Register>> store =
      open_coordinator(*control_, options_.config.coordination, options_.config.pool.name);
  if (!store) return std::unexpected(store.error());
  store_ = std::move(*store);
  if (const Result<void> listening = listen(); !listening) return listening;
  make_history();
  make_saved_rings();
  directory_ = std::make_unique<peer::HttpDirectory>(peer::HttpDirectory::Options{
      .loop = *control_, .session = session_, .token = options_.config.admin.token});
  make_controller();
  make_router();
  directory_->set_own(*router_);
  peer_service_ = std::make_unique<peer::HttpService>(*control_, session_, *router_);
  watch_ = std::make_unique<StateWatch>(
      StateWatch::Options{.loop = *control_,
                          .order_taker = *controller_,
                          .router = *this,
                          .store = options_.config.pool.kind == PoolKind::kStore,
                          .log = options_.log});
  looks_ = std::make_unique<ServerLooks>(*control_, options_.config.pool.credentials, session_);
  follower_ = std::make_unique<DecisionFollower>(
      DecisionFollower::Options{.loop = *control_,
                                .order_taker = *controller_,
                                .history = *history_,
                                .token = options_.config.admin.token});
  api_ = std::make_unique<admin::Api>(admin::Api::Options{
      .order_taker = *controller_,
      .router = *this,
      .door = {.token = options_.config.admin.token,
               .advertise = options_.config.admin.advertise,
               .hosts = options_.config.admin.hosts},
      .wall_now = [this] { return control_->wall_now(); },
      .history = history_.get(),
      .recovery = controller_.get(),
      .orders = options_.orders,
      .ask = [this](net::HttpCall call,
                    auto done) { net::http_request(*control_, std::move(call), std::move(done)); },
      .after = [this](milliseconds delay,
                      std::function<void()> then) { control_->after(delay, std::move(then)); }});
  control_->post([this] {
    controller_->start();
    remember_heat();
    recall_usual();
    watch_->start();
    follower_->start();
  });
  threads_.emplace_back([this] { control_->run(); });
  for (const auto& worker : workers_) threads_.emplace_back([&worker] { worker->run(); });
  return {};
}

// People and the other routers use one door, and cannot keep out each other: nor whoever asks
// whether we are ready. Nothing is answered before the loops run.
Result<void> RouterProcess::Impl::listen() {
  const auto kind_of = [](const net::HttpRequest& request) {
    if (peer::HttpService::takes(request)) return 1;
    return request.path == "/ready" || request.path == "/metrics" ? 2 : 0;
  };
  Result<std::unique_ptr<net::HttpServer>> http = net::HttpServer::listen(
      *control_, options_.config.admin.address,
      [this](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
        answer(request, reply);
      },
      {.body_bytes_max_of =
           [this](const net::HttpRequest& head) { return api_->body_bytes_max(head); },
       .answer_timeout_of = admin::Api::answer_timeout},
      kind_of);
  if (!http) return std::unexpected(http.error());
  http_ = std::move(*http);
  return {};
}

void RouterProcess::Impl::answer(const net::HttpRequest& request,
                                 const net::HttpServer::Reply& reply) {
  if (!peer::HttpService::takes(request)) return api_->handle(request, reply);
  if (std::optional<net::HttpResponse> refused = api_->refusal(request))
    return reply(std::move(*refused));
  // Before the first view there is nothing that could be asked of the router.
  if (!routing_) return reply({.status = 503});
  peer_service_->handle(request, reply);
}

void RouterProcess::Impl::make_loops() {
  control_ = net::make_loop();
  for (std::uint32_t i = 0; i < options_.config.workers; ++i) {
    workers_.push_back(net::make_loop());
  }
}

// On one machine the coordinator is a file, and asking it costs nobody anything.
std::function<Instant()> RouterProcess::Impl::last_asked() const {
  if (options_.config.coordination.kind == CoordinatorKind::kSqlite) return {};
  return [this] { return peer_service_ == nullptr ? Instant{0} : peer_service_->last_asked(); };
}

void RouterProcess::Impl::make_controller() {
  controller_ = std::make_unique<control::Controller>(control::Controller::Options{
      .loop = *control_,
      .store = *store_,
      .directory = *directory_,
      .session = session_,
      .peer_address = options_.config.admin.advertise.empty() ? net::to_string(http_->address())
                                                              : options_.config.admin.advertise,
      .creation = creation_of(options_.config),
      .places = {.coordinator = describe(options_.config.coordination),
                 .saved = saved_rings_there(options_.config)},
      .credentials = options_.config.pool.credentials,
      .limits = options_.config.limits,
      .constants = options_.config.balance.constants,
      .windows = options_.config.balance.windows,
      .seed = options_.seed,
      .mark_new_servers = options_.mark_new_servers,
      .last_asked = last_asked(),
      .publish = [this](ring::RingSnapshot view) { publish(std::move(view)); },
      .removed = [this](const Error& why) { enter(State::kRemoved, why); },
      .log = [this](const std::string& text) { note(text); },
      .decided =
          [this](const control::Decision& decision) {
            std::string told = admin::to_body(admin::render_decision(decision));
            options_.log({.event = "decision",
                          .text = decision.kind + " " + decision.subject + ": " + decision.reason});
            const std::optional<net::Url>& webhook = options_.config.balance.webhook;
            if (webhook && decision.kind == "advice")
              send_webhook(*control_, *webhook, told,
                           [this](const std::string& text) { note(text); });
            history_->append_decision(decision.at, std::move(told));
          }});
}

// Without it the router serves all the same.
void RouterProcess::Impl::make_history() {
  history_ = std::make_unique<history::Store>(history::Store::Options{
      .path = options_.config.history_path,
      .clock = clock_,
      .post = [this](std::function<void()> callback) { control_->post(std::move(callback)); },
      .trouble = [this](const Error& why) { note("history: " + why.message); }});
}

void RouterProcess::Impl::make_saved_rings() {
  const std::string& folder = options_.config.coordination.saved_rings;
  if (folder.empty()) return;
  saved_rings_ = std::make_unique<SavedRings>(SavedRings::Options{
      .directory = folder, .clock = clock_, .trouble = [this](const std::string& text) {
        note(text);
      }});
}

void RouterProcess::Impl::remember_heat() {
  const control::Status status = controller_->status();
  if (status.heat != nullptr) {
    history_->append(history::point_of(*status.heat, control_->wall_now()));
  }
  control_->after(kRememberEvery, [this] { remember_heat(); });
}

// What the balancer takes for normal: how hot each node was at this hour of the last days.
void RouterProcess::Impl::recall_usual() {
  control_->after(kRecallEvery, [this] { recall_usual(); });
  const auto points = std::make_shared<std::vector<history::HeatPoint>>();
  const auto hours = control::usual_hours(control_->wall_now());
  const auto open = std::make_shared<std::size_t>(hours.size());
  for (const auto& [from, to] : hours) {
    history_->heat(from, to, [this, points, open](Result<std::vector<history::HeatPoint>> found) {
      if (found) std::ranges::move(*found, std::back_inserter(*points));
      if (--*open == 0) controller_->set_usual(*points);
    });
  }
}

void RouterProcess::Impl::make_router() {
  std::vector<net::Loop*> workers;
  for (const auto& worker : workers_) workers.push_back(worker.get());
  router_ = std::make_unique<proxy::Router>(
      proxy::Router::Options{.control = *control_,
                             .workers = std::move(workers),
                             .listen = listen_addresses(options_.config),
                             .gate = *controller_,
                             .fence_keeper = *controller_,
                             .key_counter = *controller_,
                             .credentials = options_.config.pool.credentials,
                             .client_password = options_.config.listeners.front().password,
                             .limits = options_.config.limits,
                             .seed = options_.seed});
  warn_of_few_descriptors();
}

void RouterProcess::Impl::warn_of_few_descriptors() {
  const std::size_t most = net::raise_descriptors_max();
  const std::size_t clients = options_.config.limits.clients_max;
  const std::size_t kept =
      proxy::Router::descriptors_kept(options_.config.pool.nodes.size(), workers_.size());
  if (most >= clients + 2 * kept) return;
  note("warning: this process may open only " + std::to_string(most) +
       " files and sockets, too few for " + std::to_string(clients) +
       " clients (limits.clients_max): accepting will pause before that; raise `ulimit -n` "
       "or LimitNOFILE");
}

// The first view starts the data path; later ones replace it. New servers are marked as ours while
// they are empty: the first client waits for that, or its keys would make them look foreign.
void RouterProcess::Impl::publish(ring::RingSnapshot view) {
  const bool first = view_ == nullptr;
  view_ = std::move(view);
  directory_->follow(view_->document());
  if (saved_rings_ != nullptr) saved_rings_->see(view_);
  if (routing_) return router_->set_view(view_);
  if (!first) return;
  for (std::string& line : ignored_settings(options_.config, view_->document())) {
    options_.log({.level = LogLevel::kWarning, .event = "file-ignored", .text = std::move(line)});
  }
  const bool wait = options_.mark_new_servers && view_->epoch() <= kJustCreated;
  route_when_marked(control_->now() + (wait ? kMarkPatience : milliseconds{0}));
}

void RouterProcess::Impl::route_when_marked(Instant until) {
  if (control_->now() < until && !all_marked()) {
    control_->after(kMarkLook, [this, until] { route_when_marked(until); });
    return;
  }
  routing_ = true;
  router_->start(view_, [this](const Result<void>& ready) {
    if (ready) {
      enter(State::kServing, {});
    } else {
      enter(State::kFailed, ready.error());
    }
  });
}

bool RouterProcess::Impl::all_marked() const {
  const control::Status status = controller_->status();
  return status.nodes.size() == view_->document().nodes.size() &&
         std::ranges::all_of(status.nodes, &control::NodeFacts::marked);
}

void RouterProcess::Impl::enter(State state, const Error& error) {
  if (state == State::kRemoved && routing_) router_->stop(error);
  const std::lock_guard lock(mutex_);
  if (state_ == State::kRemoved) return;  // final
  state_ = state;
  error_ = error;
}

void RouterProcess::Impl::stop() {
  if (!threads_.empty()) {
    auto stopped = std::make_shared<std::promise<void>>();
    std::future<void> future = stopped->get_future();
    control_->post([this, stopped] {
      controller_->stop([this, stopped] {
        if (routing_) router_->stop({Code::kUnavailable, "the router is stopping"});
        stopped->set_value();
      });
    });
    future.wait_for(kStopPatience);
    // Behind what the router has posted, so that clients still hear the reason.
    for (const auto& worker : workers_) worker->post([&worker] { worker->stop(); });
    control_->post([this] { control_->stop(); });
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  http_.reset();
  api_.reset();
  looks_.reset();
  follower_.reset();
  watch_.reset();
  peer_service_.reset();
  router_.reset();
  controller_.reset();
  directory_.reset();
  saved_rings_.reset();
  history_.reset();
  store_.reset();
}

Result<std::unique_ptr<RouterProcess>> RouterProcess::start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (const Result<void> started = impl->start(); !started) {
    return std::unexpected(started.error());
  }
  return std::unique_ptr<RouterProcess>(new RouterProcess(std::move(impl)));
}

RouterProcess::RouterProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RouterProcess::~RouterProcess() = default;

RouterProcess::State RouterProcess::state() const { return impl_->state(); }
Error RouterProcess::error() const { return impl_->error(); }

std::vector<net::Address> RouterProcess::addresses() const {
  return impl_->ask<std::vector<net::Address>>(
      [&](const auto& answer) { answer(impl_->router().addresses()); });
}

net::Address RouterProcess::admin_address() const { return impl_->admin_address(); }

control::Status RouterProcess::status() const {
  return impl_->ask<control::Status>(
      [&](const auto& answer) { answer(impl_->controller().status()); });
}

proxy::RouterStats RouterProcess::stats() const {
  return impl_->ask<proxy::RouterStats>([&](const auto& answer) { impl_->router().stats(answer); });
}

void RouterProcess::with_operator(const std::function<void(control::Operator&)>& order) const {
  impl_->ask<bool>([&](const auto& answer) {
    order(impl_->controller());
    answer(true);
  });
}

}  // namespace cleave::app
