#include "proxy/data_path.h"

#include <algorithm>
#include <map>
#include <utility>

#include "backend/call.h"
#include "backend/health.h"
#include "base/check.h"
#include "net/descriptors.h"
#include "proxy/moves/move_desk.h"
#include "proxy/servers/command_costs.h"
#include "proxy/worker.h"

namespace cleave::proxy {
namespace {

// Brings a worker's question to the control loop and the answer home. Posts run in order, so a view
// that the control side set before it answered is the worker's before the answer is.
class WorkerGate final : public backend::Gate {
 public:
  WorkerGate(net::Loop& control, net::Loop& home, backend::Gate& gate,
             std::weak_ptr<void> control_side)
      : control_(control),
        home_(home),
        gate_(gate),
        session_(gate.session()),
        control_side_(std::move(control_side)) {}

  const SessionId& session() const override { return session_; }

  void confirm(std::function<void(Result<void>)> done) override {
    control_.post([alive = control_side_, &gate = gate_, &home = home_, done = std::move(done)] {
      if (alive.expired()) return;
      gate.confirm([&home, done](Result<void> verdict) {
        home.post([done, verdict = std::move(verdict)] { done(verdict); });
      });
    });
  }

 private:
  net::Loop& control_;
  net::Loop& home_;
  backend::Gate& gate_;
  SessionId session_;
  std::weak_ptr<void> control_side_;
};

// What a worker knows that is no counter of the process.
struct Told {
  Shed last_shed;
  std::vector<NodeTraffic> traffic;
};

void add_traffic(std::vector<NodeTraffic>& all, const std::vector<NodeTraffic>& more) {
  for (const NodeTraffic& each : more) {
    const auto known = std::ranges::find(all, each.node, &NodeTraffic::node);
    if (known == all.end()) {
      all.push_back(each);
    } else {
      *known += each;
    }
  }
}

// A worker as the listener knows it: the listener's callbacks may outlive the router.
struct Place {
  net::Loop* loop = nullptr;
  std::weak_ptr<Worker> worker;
};

// Gives a new connection to the worker of the loop that it lives on. Several workers may share a
// loop (the simulator): the one with the fewest clients gets it. Runs on that loop.
void seat(const std::vector<Place>& places, const net::Loop& loop,
          std::unique_ptr<net::Stream> stream) {
  std::shared_ptr<Worker> chosen;
  for (const Place& place : places) {
    if (place.loop != &loop) continue;
    std::shared_ptr<Worker> worker = place.worker.lock();
    if (worker == nullptr) continue;
    if (chosen == nullptr || worker->clients().size() < chosen->clients().size())
      chosen = std::move(worker);
  }
  if (chosen != nullptr) chosen->add_client(std::move(stream));
}

}  // namespace

class DataPath::Impl : public std::enable_shared_from_this<DataPath::Impl> {
 public:
  explicit Impl(Options options);

  void start(ring::RingSnapshot view, std::function<void(Result<void>)> ready);
  void set_view(const ring::RingSnapshot& view);
  void stop(const Error& why);
  // The data path dies: workers are destroyed on their own loops.
  void leave();

  std::vector<net::Address> addresses() const;
  std::vector<NodeHealth> health() const;
  void stats(std::function<void(RouterStats)> done);
  void take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done);
  void count_as_leader(Done<std::uint64_t> done) {
    options_.key_counter.count_as_leader(std::move(done));
  }
  MoveDesk& desk() { return desk_; }

  // An answer to a caller of the control loop, not within its own call.
  template <class T>
  Done<T> deferred(Done<T> done) {
    return [&control = options_.control, done = std::move(done)](Result<T> result) {
      control.post([done, result = std::move(result)] { done(result); });
    };
  }

 private:
  using Shared = std::shared_ptr<Worker>;

  struct Probe {
    net::Address address;
    std::unique_ptr<backend::Prober> prober;
  };

  void make_workers();
  Shared make_worker(std::size_t number);
  void collect(MoveId move, const std::vector<std::string>& watch);
  template <class Function>
  void on_each_worker(Function function);
  template <class T>
  void ask_each_worker(std::function<T(Worker&)> question,
                       std::function<void(std::vector<T>)> done);

  void follow_nodes();
  void take_health(NodeId node, const backend::Health& health);
  void learn_commands(NodeId node);
  void take_commands(Result<std::string> raw, const std::string& version);
  void learn_prices(const heat::CommandPrices& prices);
  void learn_later();
  Result<void> listen();
  net::Loop& least_loaded();
  void watch_fences();
  void watch_fence(MoveId move, Epoch phase_epoch);
  void check_fence(MoveId move, Epoch phase_epoch);

  Options options_;
  Rng rng_;
  std::shared_ptr<ProcessFacts> process_;
  std::vector<Shared> workers_;
  std::shared_ptr<const ServerCommands> commands_;  // nullptr: not learnt yet
  heat::CommandPrices prices_;                      // that `costs_` was made of
  std::shared_ptr<const CommandCosts> costs_;
  std::vector<std::uint64_t> assigned_;  // clients given to each worker since the start
  MoveDesk desk_;
  ring::RingSnapshot view_;
  std::map<NodeId, Probe> probes_;
  std::map<MoveId, Epoch> watched_;          // fences with a timer
  std::function<void(Result<void>)> ready_;  // nullptr once called
  bool learning_ = false;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  bool stopped_ = false;
};

// ---- the public face --------------------------------------------------------------------------

DataPath::DataPath(Options options) : impl_(std::make_shared<Impl>(std::move(options))) {}
DataPath::~DataPath() { impl_->leave(); }

void DataPath::start(ring::RingSnapshot view, std::function<void(Result<void>)> ready) {
  impl_->start(std::move(view), std::move(ready));
}
void DataPath::set_view(ring::RingSnapshot view) { impl_->set_view(view); }
void DataPath::stop(const Error& why) { impl_->stop(why); }
std::vector<net::Address> DataPath::addresses() const { return impl_->addresses(); }
std::vector<NodeHealth> DataPath::health() const { return impl_->health(); }
void DataPath::stats(std::function<void(RouterStats)> done) { impl_->stats(std::move(done)); }

void DataPath::await_copying(MoveId move, Epoch phase_epoch, Done<void> done) {
  impl_->desk().await_copying(move, phase_epoch, impl_->deferred(std::move(done)));
}
void DataPath::take(MoveId move, Epoch phase_epoch, const peer::TakeOrder& order,
                    Done<peer::DirtyBatch> done) {
  impl_->desk().take(move, phase_epoch, order, impl_->deferred(std::move(done)));
}
void DataPath::await_fenced(MoveId move, Epoch phase_epoch, Done<peer::FencedAck> done) {
  impl_->desk().await_fenced(move, phase_epoch, impl_->deferred(std::move(done)));
}
void DataPath::take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) {
  impl_->take_heat(prices, impl_->deferred(std::move(done)));
}

void DataPath::count_keys(Done<std::uint64_t> done) { impl_->count_as_leader(std::move(done)); }

// A quarter at most: a process that may open very little shall still serve somebody.
std::size_t DataPath::descriptors_kept(std::size_t nodes, std::size_t workers) {
  constexpr std::size_t kOthers = 32;
  return std::min(kOthers + nodes * (workers + 2), net::descriptors_max() / 4);
}

// ---- workers ----------------------------------------------------------------------------------

DataPath::Impl::Impl(Options options)
    : options_(std::move(options)),
      rng_(options_.seed),
      process_(std::make_shared<ProcessFacts>(options_.gate.session().value(),
                                              options_.control.now(), options_.workers.size())),
      assigned_(options_.workers.size()),
      desk_({.workers = options_.workers.size(),
             .limits = options_.limits,
             .mutations = options_.mutations,
             .collect = [this](MoveId move, const std::vector<std::string>& watch) {
               collect(move, watch);
             }}) {
  CHECK(!options_.workers.empty());
}

void DataPath::Impl::make_workers() {
  for (std::size_t i = 0; i < options_.workers.size(); ++i) workers_.push_back(make_worker(i));
}

DataPath::Impl::Shared DataPath::Impl::make_worker(std::size_t number) {
  net::Loop& home = *options_.workers[number];
  net::Loop& control = options_.control;
  const std::weak_ptr<Impl> weak = weak_from_this();
  return std::make_shared<Worker>(Worker::Options{
      .number = number,
      .loop = home,
      .gate = std::make_unique<WorkerGate>(control, home, options_.gate, weak),
      .process = process_,
      .credentials = options_.credentials,
      .client_password = options_.client_password,
      .limits = options_.limits,
      .mutations = options_.mutations,
      .seed = rng_.next(),
      .count_keys =
          [weak, &home, &control, &counter = options_.key_counter](KeysCounted done) {
            control.post([weak, &home, &counter, done = std::move(done)] {
              if (weak.expired()) return;
              counter.count_keys([&home, done](const Result<std::uint64_t>& keys) {
                home.post([done, keys] { done(keys); });
              });
            });
          },
      .adopted =
          [weak, number, &control](Epoch epoch) {
            control.post([weak, number, epoch] {
              if (const auto self = weak.lock()) self->desk_.adopted(number, epoch);
            });
          },
      .cleared =
          [weak, number, &control](MoveId move, Epoch phase_epoch, peer::FencedAck part) {
            control.post([weak, number, move, phase_epoch, part = std::move(part)] {
              if (const auto self = weak.lock()) {
                self->desk_.cleared(number, move, phase_epoch, part);
              }
            });
          },
  });
}

void DataPath::Impl::collect(MoveId move, const std::vector<std::string>& watch) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->loop().post([worker = workers_[i], move, watch, i, weak = weak_from_this(),
                              &control = options_.control] {
      control.post([weak, i, move, keys = worker->dispatch().take_dirty(move, watch)] {
        if (const auto self = weak.lock()) self->desk_.collected(i, move, keys);
      });
    });
  }
}

// Runs `function(worker)` on each worker's loop.
template <class Function>
void DataPath::Impl::on_each_worker(Function function) {
  for (const Shared& worker : workers_) {
    worker->loop().post([worker, function] { function(*worker); });
  }
}

// The answers of all workers, in their order.
template <class T>
void DataPath::Impl::ask_each_worker(std::function<T(Worker&)> question,
                                     std::function<void(std::vector<T>)> done) {
  // Before `start` there is nobody to ask: another router's or a person's question may come first.
  if (workers_.empty()) return options_.control.post([done = std::move(done)] { done({}); });
  struct Asked {
    std::vector<T> answers;
    std::size_t missing;
    std::function<void(std::vector<T>)> done;
  };
  const auto gathering = std::make_shared<Asked>(
      Asked{std::vector<T>(workers_.size()), workers_.size(), std::move(done)});
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->loop().post(
        [worker = workers_[i], question, gathering, i, &control = options_.control] {
          control.post([gathering, i, answer = question(*worker)]() mutable {
            gathering->answers[i] = std::move(answer);
            if (--gathering->missing == 0) gathering->done(std::move(gathering->answers));
          });
        });
  }
}

// ---- life -------------------------------------------------------------------------------------

void DataPath::Impl::start(ring::RingSnapshot view, std::function<void(Result<void>)> ready) {
  CHECK(workers_.empty() && !stopped_);
  ready_ = std::move(ready);
  make_workers();
  set_view(view);
}

void DataPath::Impl::set_view(const ring::RingSnapshot& view) {
  if (stopped_ || (view_ != nullptr && view->epoch() <= view_->epoch())) return;
  view_ = view;
  on_each_worker([view](Worker& worker) { worker.adopt(view); });
  desk_.set_view(view);
  follow_nodes();
  watch_fences();
}

void DataPath::Impl::stop(const Error& why) {
  if (std::exchange(stopped_, true)) return;
  listeners_.clear();
  probes_.clear();
  on_each_worker([why](Worker& worker) { worker.stop(why); });
  desk_.stop(why);
  if (const auto ready = std::exchange(ready_, nullptr)) ready(std::unexpected(why));
}

void DataPath::Impl::leave() {
  ready_ = nullptr;
  stop(Error{Code::kUnavailable, "the router ends"});
  // Moved, not copied: the callback is the last holder, so the worker dies on its own loop.
  for (Shared& worker : std::exchange(workers_, {})) {
    net::Loop& home = worker->loop();
    home.post([last = std::move(worker)] {});
  }
}

// ---- health, commands -------------------------------------------------------------------------

void DataPath::Impl::follow_nodes() {
  std::map<NodeId, Probe> probes;
  for (const ring::Node& node : view_->document().nodes) {
    const Result<net::Address> address = net::parse_address(node.members.front().address);
    CHECK(address.has_value());  // checked with the document
    Probe probe{.address = *address, .prober = nullptr};
    const auto known = probes_.find(node.id);
    if (known != probes_.end() && known->second.address == *address) {
      probe.prober = std::move(known->second.prober);
    } else {
      probe.prober = std::make_unique<backend::Prober>(
          options_.control, Rng(rng_.next()),
          backend::Prober::Options{
              .address = *address,
              .credentials = options_.credentials,
              .session = options_.gate.session(),
              .limits = options_.limits,
              .on_change = [this, id = node.id](const backend::Health& health) {
                take_health(id, health);
              }});
    }
    probes.emplace(node.id, std::move(probe));
  }
  probes_ = std::move(probes);
}

void DataPath::Impl::take_health(NodeId node, const backend::Health& health) {
  on_each_worker([node, health](Worker& worker) { worker.dispatch().set_health(node, health); });
  if (health.up && ready_ != nullptr) learn_commands(node);
}

void DataPath::Impl::learn_commands(NodeId node) {
  const auto probe = probes_.find(node);
  if (learning_ || ready_ == nullptr || probe == probes_.end()) return;
  learning_ = true;
  backend::call_raw(probe->second.prober->pipe(), wire::command({"COMMAND"}),
                    [this, node](Result<std::string> raw) {  // it dies with the prober's pipe
                      const auto known = probes_.find(node);
                      if (known == probes_.end()) return;
                      take_commands(std::move(raw),
                                    known->second.prober->health().identity.version);
                    });
}

void DataPath::Impl::take_commands(Result<std::string> raw, const std::string& version) {
  learning_ = false;
  if (ready_ == nullptr || stopped_) return;
  if (!raw) return learn_later();
  const auto commands = ServerCommands::learn(std::move(*raw), version);
  if (!commands) return learn_later();
  commands_ = *commands;
  on_each_worker([known = commands_](Worker& worker) { worker.learn(known); });
  const Result<void> listening = listen();
  std::exchange(ready_, nullptr)(listening);
}

// From another node, or from the same one when it is better.
void DataPath::Impl::learn_later() {
  options_.control.after(options_.limits.probe_interval, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    for (const NodeHealth& node : self->health()) {
      if (node.up) return self->learn_commands(node.node);
    }
  });
}

std::vector<NodeHealth> DataPath::Impl::health() const {
  std::vector<NodeHealth> all;
  for (const auto& [node, probe] : probes_) {
    const backend::Health& seen = probe.prober->health();
    all.push_back({.node = node,
                   .up = seen.up,
                   .error = seen.error,
                   .identity = seen.identity,
                   .latency = seen.latency});
  }
  return all;
}

// ---- clients ----------------------------------------------------------------------------------

Result<void> DataPath::Impl::listen() {
  std::vector<Place> places;
  for (const Shared& worker : workers_) places.push_back({&worker->loop(), worker});
  for (const net::Address& address : options_.listen) {
    auto listener = options_.control.listen(
        address,
        {.choose = [this]() -> net::Loop& { return least_loaded(); },
         .accepted =
             [places, process = process_, most = options_.limits.clients_max](
                 net::Loop& loop, std::unique_ptr<net::Stream> stream) {
               if (process->sum(&WorkerCounters::clients) < most) {
                 return seat(places, loop, std::move(stream));
               }
               stream->send("-ERR max number of clients reached\r\n");
             },
         .descriptors_kept = descriptors_kept(view_->document().nodes.size(), workers_.size()),
         .paused = [this](bool paused) { process_->accepting = !paused; }});
    if (!listener) return std::unexpected(listener.error());
    listeners_.push_back(std::move(*listener));
  }
  if (!listeners_.empty()) process_->port = listeners_.front()->address().port;
  return {};
}

// Counts what was given out, not what has arrived there: many connections may come in one turn.
net::Loop& DataPath::Impl::least_loaded() {
  std::size_t best = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const WorkerCounters& worker = process_->workers[i];
    const std::uint64_t left = worker.clients_total.get() - worker.clients.get();
    const std::uint64_t load = assigned_[i] - std::min(assigned_[i], left);
    if (load >= least) continue;
    least = load;
    best = i;
  }
  ++assigned_[best];
  return workers_[best]->loop();
}

std::vector<net::Address> DataPath::Impl::addresses() const {
  std::vector<net::Address> all;
  for (const auto& listener : listeners_) all.push_back(listener->address());
  return all;
}

// ---- fences (rule 11) -------------------------------------------------------------------------

void DataPath::Impl::watch_fences() {
  for (const ring::Move& move : view_->document().moves) {
    if (move.phase != ring::Phase::kFenced) continue;
    if (std::exchange(watched_[move.id], move.phase_epoch) == move.phase_epoch) continue;
    watch_fence(move.id, move.phase_epoch);
  }
  std::erase_if(watched_, [this](const auto& watched) {
    return ring::find_move(view_->document(), watched.first) == nullptr;
  });
}

void DataPath::Impl::watch_fence(MoveId move, Epoch phase_epoch) {
  options_.control.after(options_.limits.fence_abort_after(),
                         [weak = weak_from_this(), move, phase_epoch] {
                           if (const auto self = weak.lock()) self->check_fence(move, phase_epoch);
                         });
}

// The view says whether it is still held; only the document can end it, so it is asked for again
// and again.
void DataPath::Impl::check_fence(MoveId move, Epoch phase_epoch) {
  if (stopped_) return;
  const ring::Move* const now = ring::find_move(view_->document(), move);
  if (now == nullptr || now->phase_epoch != phase_epoch) return;
  if (options_.mutations.leave_fence_alone) {
    on_each_worker(
        [move, phase_epoch](Worker& worker) { worker.dispatch().break_fence(move, phase_epoch); });
    return;
  }
  options_.fence_keeper.abort_held_move(move, phase_epoch);
  watch_fence(move, phase_epoch);
}

// ---- questions --------------------------------------------------------------------------------

void DataPath::Impl::stats(std::function<void(RouterStats)> done) {
  ask_each_worker<Told>(
      [](Worker& worker) {
        return Told{worker.clients().last_shed(), worker.dispatch().traffic()};
      },
      [process = process_, done = std::move(done)](const std::vector<Told>& told) {
        RouterStats stats{
            .clients = process->sum(&WorkerCounters::clients),
            .clients_total = process->sum(&WorkerCounters::clients_total),
            .requests = process->sum(&WorkerCounters::requests),
            .refused = process->sum(&WorkerCounters::refused),
            .errors = process->sum(&WorkerCounters::errors),
            .timeouts = process->sum(&WorkerCounters::timeouts),
            .held_now = process->sum(&WorkerCounters::held_now),
            .held_total = process->sum(&WorkerCounters::held_total),
            .hold_ms_histogram = std::vector<std::uint64_t>(kHoldSteps + 1),
            .retries = process->sum(&WorkerCounters::retries),
            .clients_shed = process->shed(),
            .shed_by_cause = {},
            .last_shed = {},
            .accepting = process->accepting,
            .nodes = {},
        };
        for (std::size_t cause = 0; cause < kShedCauses; ++cause) {
          stats.shed_by_cause.push_back(process->shed(static_cast<ShedCause>(cause)));
        }
        for (const WorkerCounters& worker : process->workers) {
          for (std::size_t i = 0; i <= kHoldSteps; ++i) {
            stats.hold_ms_histogram[i] += worker.hold_ms[i].get();
          }
        }
        Instant latest{0};
        for (const Told& one : told) {
          if (!one.last_shed.text.empty() && one.last_shed.at >= latest) {
            latest = one.last_shed.at;
            stats.last_shed = one.last_shed.text;
          }
          add_traffic(stats.nodes, one.traffic);
        }
        done(std::move(stats));
      });
}

// The names are looked up here, once for new prices; a worker finds a command's by its number.
void DataPath::Impl::learn_prices(const heat::CommandPrices& prices) {
  if (commands_ == nullptr || (costs_ != nullptr && prices == prices_)) return;
  prices_ = prices;
  costs_ = std::make_shared<const CommandCosts>(commands_->table(), prices_);
}

void DataPath::Impl::take_heat(const heat::CommandPrices& prices,
                               Done<std::vector<heat::Report>> done) {
  using Reports = std::vector<heat::Report>;
  learn_prices(prices);
  ask_each_worker<Reports>(
      [costs = costs_](Worker& worker) { return worker.dispatch().take_heat(costs); },
      [done = std::move(done)](std::vector<Reports> parts) {
        Reports all;
        for (Reports& part : parts) {
          std::ranges::move(part, std::back_inserter(all));
        }
        done(std::move(all));
      });
}

}  // namespace cleave::proxy
