#include "app/serve/process.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "admin/render.h"
#include "app/config/config_drift.h"
#include "app/entropy.h"
#include "app/serve/coordinator.h"
#include "app/serve/decision_follower.h"
#include "app/serve/identify_server.h"
#include "app/serve/saved_rings.h"
#include "app/serve/state_watch.h"
#include "app/version.h"
#include "assembly/assembly.h"
#include "control/controller.h"
#include "control/observe/usual_levels.h"
#include "history/store.h"
#include "net/asio_loop.h"
#include "net/descriptors.h"
#include "supervise/process_usage.h"

namespace cleave::app {
namespace {

constexpr seconds kStopPatience{6};
constexpr seconds kRememberEvery{10};  // a point of the stored heat
constexpr seconds kRecallEvery{600};   // how hot it usually is at this hour

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

  bool serving() const override { return !data_path().addresses().empty(); }
  std::vector<proxy::NodeHealth> health() const override { return data_path().health(); }
  void stats(std::function<void(proxy::RouterStats)> done) override {
    data_path().stats(std::move(done));
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
  net::Address admin_address() const { return assembly_->admin_address(); }
  control::Controller& controller() { return assembly_->controller(); }
  proxy::DataPath& data_path() const { return assembly_->data_path(); }

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
  Result<void> assemble();
  void decided(const control::DecisionRecord& decision);
  void warn_of_few_descriptors();
  void adopted(const ring::RingSnapshot& view);
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
  std::unique_ptr<assembly::Assembly> assembly_;
  std::unique_ptr<StateWatch> watch_;
  std::unique_ptr<DecisionFollower> follower_;
  std::unique_ptr<ServerLooks> looks_;
  std::vector<std::thread> threads_;
  bool adopted_ = false;  // control loop: the first view

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
  make_history();
  make_saved_rings();
  if (const Result<void> made = assemble(); !made) return made;
  watch_ = std::make_unique<StateWatch>(
      StateWatch::Options{.loop = *control_,
                          .order_taker = controller().orders(),
                          .router = *this,
                          .store = options_.config.pool.kind == PoolKind::kStore,
                          .log = options_.log});
  looks_ = std::make_unique<ServerLooks>(*control_, options_.config.pool.credentials, session_);
  follower_ = std::make_unique<DecisionFollower>(
      DecisionFollower::Options{.loop = *control_,
                                .order_taker = controller().orders(),
                                .history = *history_,
                                .token = options_.config.admin.token});
  control_->post([this] {
    assembly_->start();
    remember_heat();
    recall_usual();
    watch_->start();
    follower_->start();
  });
  threads_.emplace_back([this] { control_->run(); });
  for (const auto& worker : workers_) threads_.emplace_back([&worker] { worker->run(); });
  return {};
}

void RouterProcess::Impl::make_loops() {
  control_ = net::make_loop();
  for (std::uint32_t i = 0; i < options_.config.workers; ++i) {
    workers_.push_back(net::make_loop());
  }
}

Result<void> RouterProcess::Impl::assemble() {
  const Config& config = options_.config;
  std::vector<net::Loop*> workers;
  for (const auto& worker : workers_) workers.push_back(worker.get());
  Result<std::unique_ptr<assembly::Assembly>> made = assembly::Assembly::make(
      {.control = *control_,
       .workers = std::move(workers),
       .store = *store_,
       .facts = *this,
       .session = session_,
       .listen = listen_addresses(config),
       .client_password = config.listeners.front().password,
       .door = {.address = config.admin.address,
                .token = config.admin.token,
                .advertise = config.admin.advertise,
                .hosts = config.admin.hosts},
       .begin = {.creation = creation_of(config),
                 .places = {.coordinator = describe(config.coordination),
                            .saved = saved_rings_there(config)}},
       .servers = {.credentials = config.pool.credentials,
                   .mark_new_servers = options_.mark_new_servers},
       .plan = {.constants = config.balance.constants, .windows = config.balance.windows},
       .tell = {.log = [this](const std::string& text) { note(text); },
                .decided = [this](const control::DecisionRecord& decision) { decided(decision); }},
       .limits = config.limits,
       .seed = options_.seed,
       // On one machine the coordinator is a file, and asking it costs nobody anything.
       .spares_coordinator = config.coordination.kind != CoordinatorKind::kSqlite,
       .history = history_.get(),
       .orders = options_.orders,
       .adopted = [this](const ring::RingSnapshot& view) { adopted(view); },
       .ready =
           [this](const Result<void>& ready) {
             ready ? enter(State::kServing, {}) : enter(State::kFailed, ready.error());
           },
       .removed = [this](const Error& why) { enter(State::kRemoved, why); }});
  if (!made) return std::unexpected(made.error());
  assembly_ = std::move(*made);
  warn_of_few_descriptors();
  return {};
}

void RouterProcess::Impl::decided(const control::DecisionRecord& decision) {
  std::string told = admin::to_body(admin::render_decision(decision));
  options_.log({.event = "decision",
                .text = decision.kind + " " + decision.subject + ": " + decision.reason});
  const std::optional<net::Url>& webhook = options_.config.balance.webhook;
  if (webhook && decision.kind == "advice")
    send_webhook(*control_, *webhook, told, [this](const std::string& text) { note(text); });
  history_->append_decision(decision.at, std::move(told));
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
  const control::Status status = assembly_->controller().orders().status();
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
      if (--*open == 0) assembly_->controller().set_usual(*points);
    });
  }
}

void RouterProcess::Impl::warn_of_few_descriptors() {
  const std::size_t most = net::raise_descriptors_max();
  const std::size_t clients = options_.config.limits.clients_max;
  const std::size_t kept =
      proxy::DataPath::descriptors_kept(options_.config.pool.nodes.size(), workers_.size());
  if (most >= clients + 2 * kept) return;
  note("warning: this process may open only " + std::to_string(most) +
       " files and sockets, too few for " + std::to_string(clients) +
       " clients (limits.clients_max): accepting will pause before that; raise `ulimit -n` "
       "or LimitNOFILE");
}

void RouterProcess::Impl::adopted(const ring::RingSnapshot& view) {
  if (saved_rings_ != nullptr) saved_rings_->see(view);
  if (std::exchange(adopted_, true)) return;
  for (std::string& line : ignored_settings(options_.config, view->document()))
    options_.log({.level = LogLevel::kWarning, .event = "file-ignored", .text = std::move(line)});
}

void RouterProcess::Impl::enter(State state, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kRemoved) return;  // final
  state_ = state;
  error_ = error;
}

void RouterProcess::Impl::stop() {
  if (!threads_.empty()) {
    auto stopped = std::make_shared<std::promise<void>>();
    std::future<void> future = stopped->get_future();
    control_->post([this, stopped] { assembly_->stop([stopped] { stopped->set_value(); }); });
    future.wait_for(kStopPatience);
    // Behind what the router has posted, so that clients still hear the reason.
    for (const auto& worker : workers_) worker->post([&worker] { worker->stop(); });
    control_->post([this] { control_->stop(); });
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  looks_.reset();
  follower_.reset();
  watch_.reset();
  assembly_.reset();
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
      [&](const auto& answer) { answer(impl_->data_path().addresses()); });
}

net::Address RouterProcess::admin_address() const { return impl_->admin_address(); }

control::Status RouterProcess::status() const {
  return impl_->ask<control::Status>(
      [&](const auto& answer) { answer(impl_->controller().orders().status()); });
}

proxy::RouterStats RouterProcess::stats() const {
  return impl_->ask<proxy::RouterStats>(
      [&](const auto& answer) { impl_->data_path().stats(answer); });
}

void RouterProcess::with_operator(const std::function<void(control::Operator&)>& order) const {
  impl_->ask<bool>([&](const auto& answer) {
    order(impl_->controller().orders());
    answer(true);
  });
}

}  // namespace cleave::app
