#include "app/demo/demo_adopt.h"

#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "app/demo/demo_servers.h"
#include "app/demo/load_thread.h"
#include "app/demo/twemproxy.h"
#include "app/signals.h"
#include "app/text/load_json.h"
#include "app/text/progress.h"
#include "app/text/table.h"
#include "convert/pool/ring_summary.h"
#include "convert/read/import.h"
#include "convert/write/cleave_yaml.h"
#include "convert/write/export.h"
#include "supervise/ask.h"
#include "supervise/node_files.h"

namespace cleave::app {
namespace {

constexpr milliseconds kLoadLook{20};
constexpr milliseconds kScanTimeout{5'000};
constexpr seconds kMoveTimeout{10};
constexpr std::uint16_t kFirstProxyPort = 24'801;
constexpr std::uint32_t kStages = 3;

// The key -> server map as it is, by listing every server.
using Places = std::map<std::string, std::string, std::less<>>;

// As an operator of twemproxy may have written it: no names, so that keys go by addresses.
std::string twemproxy_config(const net::Address& listen, const supervise::Children& servers) {
  std::string text = "main:\n  listen: " + net::to_string(listen) +
                     "\n  hash: fnv1a_64\n  hash_tag: \"{}\"\n  distribution: ketama\n"
                     "  redis: true\n  auto_eject_hosts: false\n  servers:\n";
  for (const supervise::Child& server : servers.list()) {
    text += "   - " + net::to_string(server.address) + ":1\n";
  }
  return text;
}

Result<net::Address> free_address() {
  const Result<std::uint16_t> port = supervise::find_free_port(kFirstProxyPort, {});
  if (!port) return std::unexpected(port.error());
  return net::Address{.host = "127.0.0.1", .port = *port};
}

class AdoptDemo {
 public:
  explicit AdoptDemo(const DemoOptions& options) : options_(options) {}

  Result<AdoptResult> run();

 private:
  Result<void> start_twemproxy();
  Result<void> replace_by_cleave();
  Result<void> cut_and_flatten();
  Result<void> replace_back();
  Result<void> go_over(const net::Address& address);
  // Load for a third of the time, then what the clients saw.
  Result<void> watch(const std::string& proxy);
  Result<void> look_at_every_key();
  Result<void> list(const supervise::Child& server, Places& places);
  convert::RingSummary ring_now() const;

  const DemoOptions& options_;
  Progress progress_;
  AdoptResult result_;
  // In the order in which they must go: what is above uses what is below.
  DemoServers servers_;
  std::unique_ptr<Twemproxy> twemproxy_;
  std::unique_ptr<RouterProcess> router_;
  std::unique_ptr<LoadThread> load_;
  std::string config_;
  Places places_;
  SystemClock clock_;
};

Result<AdoptResult> AdoptDemo::run() {
  for (const auto step : {&AdoptDemo::start_twemproxy, &AdoptDemo::replace_by_cleave,
                          &AdoptDemo::cut_and_flatten, &AdoptDemo::replace_back}) {
    if (const Result<void> done = (this->*step)(); !done) return std::unexpected(done.error());
  }
  progress_.show("checking every key");
  load_->stop();
  result_.load = load_->wait();
  if (const auto looked = look_at_every_key(); !looked) return std::unexpected(looked.error());
  return result_;
}

Result<void> AdoptDemo::start_twemproxy() {
  if (const auto started = servers_.start(options_.nodes); !started) return started;
  const Result<net::Address> address = free_address();
  if (!address) return std::unexpected(address.error());
  config_ = twemproxy_config(*address, servers_.children());
  auto twemproxy = Twemproxy::start(config_, *address, servers_.directory());
  if (!twemproxy) return std::unexpected(twemproxy.error());
  twemproxy_ = std::move(*twemproxy);
  loadgen::Generator::Options load = demo_load(options_, {*address});
  load.duration = milliseconds{0};
  load_ = std::make_unique<LoadThread>(std::move(load));
  while (load_->phase() != loadgen::Phase::kRunning) {
    const loadgen::Generator::Progress filled = load_->progress();
    progress_.show("writing keys through twemproxy", filled.done, filled.of);
    if (stop_wanted(kLoadLook)) return fail(Code::kUnavailable, "stopped");
  }
  if (const auto watched = watch("twemproxy"); !watched) return watched;
  return look_at_every_key();
}

Result<void> AdoptDemo::replace_by_cleave() {
  const auto imported = convert::import_pools(
      config_, {.file = "nutcracker.yml", .from = convert::Peer::kTwemproxy, .pool = {}});
  if (!imported) return std::unexpected(imported.error());
  const auto yaml = convert::to_cleave_yaml(*imported, "nutcracker.yml");
  if (!yaml) return std::unexpected(yaml.error());
  Result<Config> config = parse_config(*yaml, "cleave.yaml");
  if (!config) return std::unexpected(config.error());
  // Both serve for a while: the clients go over one by one.
  config->listeners[0].address = {.host = "127.0.0.1", .port = 0};
  auto router = servers_.start_router(std::move(*config),
                                      {.seed = options_.seed, .verbose = options_.verbose});
  if (!router) return std::unexpected(router.error());
  router_ = std::move(*router);
  if (const auto gone = go_over(router_->addresses()[0]); !gone) return gone;
  twemproxy_.reset();
  if (const auto watched = watch("cleave"); !watched) return watched;
  return look_at_every_key();
}

// What no other proxy can be told: a range with an owner of its own.
Result<void> AdoptDemo::cut_and_flatten() {
  const ring::Entry entry = router_->status().view->entries()[0];
  const Result<void> cut = give_order(*router_, [&](control::Operator& order_taker,
                                                    const auto& done) {
    order_taker.ranges().cut({.at = entry.range.first, .reason = "for the demonstration"}, done);
  });
  if (!cut) return cut;
  const Result<void> refused = convert::check_exportable(ring_now());
  if (!refused) result_.refusal = refused.error().message;
  return give_order(*router_, [](control::Operator& order_taker, const auto& done) {
    order_taker.ranges().flatten([done](const Result<std::uint64_t>& moves) {
      done(moves ? Result<void>() : std::unexpected(moves.error()));
    });
  });
}

Result<void> AdoptDemo::replace_back() {
  if (const auto ready = convert::check_exportable(ring_now()); !ready) return ready;
  const Result<net::Address> address = free_address();
  if (!address) return std::unexpected(address.error());
  convert::Pool pool = convert::pool_of(ring_now());
  pool.listener = net::to_string(*address);
  const auto text = convert::export_pool(convert::Peer::kTwemproxy, pool);
  if (!text) return std::unexpected(text.error());
  result_.exported = *text;
  auto twemproxy = Twemproxy::start(*text, *address, servers_.directory());
  if (!twemproxy) return std::unexpected(twemproxy.error());
  twemproxy_ = std::move(*twemproxy);
  if (const auto gone = go_over(*address); !gone) return gone;
  router_.reset();
  return watch("twemproxy again");
}

convert::RingSummary AdoptDemo::ring_now() const {
  return convert::summary_of(router_->status().view->document());
}

Result<void> AdoptDemo::go_over(const net::Address& address) {
  load_->move_to(address);
  const Instant end = clock_.now() + kMoveTimeout;
  while (!load_->has_moved()) {
    if (clock_.now() > end) return fail(Code::kTimeout, "clients cannot go over to another proxy");
    if (stop_wanted(kLoadLook)) return fail(Code::kUnavailable, "stopped");
  }
  return {};
}

Result<void> AdoptDemo::watch(const std::string& proxy) {
  load_->take_latency();
  const Instant begin = clock_.now();
  const double seconds = static_cast<double>(options_.seconds) / kStages;
  double passed = 0;
  while (passed < seconds) {
    progress_.show("load through " + proxy, static_cast<std::uint64_t>(passed * 10),
                   static_cast<std::uint64_t>(seconds * 10));
    if (stop_wanted(kLoadLook)) return fail(Code::kUnavailable, "stopped");
    passed = std::chrono::duration<double>(clock_.now() - begin).count();
  }
  const loadgen::Histogram latency = load_->take_latency();
  result_.stages.push_back({.proxy = proxy,
                            .operations = latency.count(),
                            .seconds = passed,
                            .p50_us = latency.quantile(500'000),
                            .p99_us = latency.quantile(990'000)});
  return {};
}

Result<void> AdoptDemo::look_at_every_key() {
  Places now;
  for (const supervise::Child& server : servers_.children().list()) {
    if (const auto listed = list(server, now); !listed) return listed;
  }
  for (const auto& [key, server] : now) {
    const auto before = places_.find(key);
    if (before != places_.end() && before->second != server) ++result_.keys_moved;
  }
  result_.keys_checked = now.size();
  places_ = std::move(now);
  return {};
}

// A SCAN sees every key that is there from its begin to its end, some of them twice.
Result<void> AdoptDemo::list(const supervise::Child& server, Places& places) {
  std::string cursor = "0";
  do {
    const auto page =
        supervise::ask(server.address, {"SCAN", cursor, "COUNT", "1000"}, kScanTimeout);
    if (!page) return std::unexpected(page.error());
    cursor = page->front();
    for (std::size_t i = 1; i < page->size(); ++i) {
      const auto [place, is_new] = places.emplace((*page)[i], server.name);
      if (!is_new && place->second != server.name) ++result_.keys_twice;
    }
  } while (cursor != "0");
  return {};
}

double tenths(double value) { return std::round(value * 10) / 10; }

}  // namespace

bool AdoptResult::good() const {
  return keys_moved == 0 && keys_twice == 0 && load.clean() && load.errors == 0 &&
         !refusal.empty() && !exported.empty();
}

Result<AdoptResult> demo_adopt(const DemoOptions& options) {
  hold_stop_signals();
  return AdoptDemo(options).run();
}

Json to_json(const AdoptResult& result) {
  Json stages = Json::array();
  for (const AdoptStage& stage : result.stages) {
    stages.push_back({{"proxy", stage.proxy},
                      {"operations", stage.operations},
                      {"seconds", tenths(stage.seconds)},
                      {"p50_us", stage.p50_us},
                      {"p99_us", stage.p99_us}});
  }
  return {{"keys_checked", result.keys_checked},
          {"keys_moved", result.keys_moved},
          {"keys_twice", result.keys_twice},
          {"writes_acked", result.load.findings.writes_acked},
          {"writes_lost", result.load.findings.writes_lost},
          {"reads_wrong", result.load.findings.reads_wrong},
          {"errors", result.load.errors},
          {"export_refused", result.refusal},
          {"stages", std::move(stages)},
          {"load", to_json(result.load)}};
}

std::string to_text(const AdoptResult& result) {
  Table table({"clients go through", "requests", "p50 us", "p99 us"});
  for (const AdoptStage& stage : result.stages) {
    table.add(
        {stage.proxy, grouped(stage.operations), grouped(stage.p50_us), grouped(stage.p99_us)});
  }
  return table.text() + "\nkeys on the servers   " + grouped(result.keys_checked) +
         "\n  on another server  " + grouped(result.keys_moved) + "\n  on two servers     " +
         grouped(result.keys_twice) + "\nwrites acknowledged   " +
         grouped(result.load.findings.writes_acked) + "\n  lost               " +
         grouped(result.load.findings.writes_lost) + "\nreads that were wrong " +
         grouped(result.load.findings.reads_wrong) + "\nerrors                " +
         grouped(result.load.errors) + "\n\nwith a cut, export said: " + result.refusal +
         "\nafter `flatten` it wrote what twemproxy runs by now:\n\n" + result.exported;
}

}  // namespace cleave::app
