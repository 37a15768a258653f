#include "loadgen/generator.h"

#include <algorithm>

#include "base/check.h"
#include "base/wide.h"
#include "loadgen/generator_impl.h"
#include "wire/writer.h"

namespace cleave::loadgen {
namespace {

constexpr std::size_t kVisitDepth = 64;  // of filling and sweeping, whatever the pipeline is
constexpr milliseconds kTick{10};
constexpr milliseconds kFineTick{1};  // with a limited rate
constexpr milliseconds kCheckPeriod{100};
constexpr std::uint64_t kBurstsPerSecond = 10;  // a tenth of a second may be caught up with

Verifier::Options verifier_options(const Generator::Options& options, std::uint64_t run) {
  return {.keys = options.keys.count,
          .counters = options.verify ? options.counter_share : 0,
          .erasable = options.verify ? options.erasable_share : 0,
          .expiring = options.verify ? options.expiring_share : 0,
          .value_bytes = options.value_bytes,
          .value_bytes_of = options.value_bytes_of,
          .ttl = options.ttl,
          .tolerance = options.tolerance,
          .run = run};
}

}  // namespace

Generator::Impl::Impl(net::Loop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      keys_(options_.keys),
      // The same seed in another run must not write the same values.
      verifier_(verifier_options(
          options_, options_.seed ^ static_cast<std::uint64_t>(loop.wall_now().value()))),
      is_hungry_(options_.clients) {
  CHECK(!options_.addresses.empty() && options_.clients > 0 && options_.pipeline > 0);
  for (std::uint32_t i = 0; i < options_.clients; ++i) rngs_.emplace_back(options_.seed + i);
}

Generator::Impl::~Impl() { loop_.cancel(timer_); }

void Generator::Impl::start(std::function<void(const Report&)> done) {
  CHECK(phase_ == Phase::kIdle);
  done_ = std::move(done);
  for (std::uint32_t i = 0; i < options_.clients; ++i) {
    clients_.push_back(
        std::make_unique<Client>(loop_,
                                 Client::Options{.index = i,
                                                 .addresses = options_.addresses,
                                                 .password = options_.password,
                                                 .connect_timeout = options_.connect_timeout,
                                                 .reply_timeout = options_.reply_timeout},
                                 *this));
  }
  enter(options_.fill ? Phase::kFilling : Phase::kRunning);
  tick();
}

void Generator::Impl::stop() {
  if (phase_ == Phase::kFilling || phase_ == Phase::kRunning) enter(Phase::kDraining);
}

void Generator::Impl::move_to(const std::vector<net::Address>& addresses) {
  CHECK(!addresses.empty());
  options_.addresses = addresses;
  for (const auto& client : clients_) client->move_to(addresses);
}

bool Generator::Impl::has_moved() const {
  return std::ranges::none_of(clients_, [](const auto& client) { return client->is_leaving(); });
}

void Generator::Impl::enter(Phase phase) {
  const Instant now = loop_.now();
  if (phase == Phase::kFilling || phase == Phase::kSweeping) visits_ = Visits(keys_.count());
  if (phase == Phase::kRunning) {
    run_began_ = now;
    second_ends_ = now + seconds{1};
  }
  if (phase_ == Phase::kRunning) run_ended_ = now;
  phase_ = phase;
  phase_began_ = now;
  const bool visiting = phase == Phase::kFilling || phase == Phase::kSweeping;
  for (const auto& client : clients_) {
    client->set_depth(visiting ? kVisitDepth : options_.pipeline);
    client->wake();
  }
  if (options_.on_phase) options_.on_phase(phase);
}

void Generator::Impl::tick() {
  const Instant now = loop_.now();
  if (phase_ == Phase::kRunning && now >= second_ends_) {
    second_ends_ += seconds{1};
    const Second& second = measure_.end_second();
    if (options_.on_second) options_.on_second(second);
  }
  if (now >= next_check_) {
    next_check_ = now + kCheckPeriod;
    for (const auto& client : clients_) client->check(now);
  }
  move_on(now);
  if (phase_ == Phase::kDone) return done_(report());  // last: it may destroy us
  if (phase_ == Phase::kRunning && options_.requests_per_second > 0) give_credit(loop_.now());
  timer_ = loop_.after(options_.requests_per_second > 0 ? kFineTick : kTick, [this] { tick(); });
}

void Generator::Impl::move_on(Instant now) {
  const bool visited = visits_.all_done() || now - phase_began_ > options_.settle_timeout;
  switch (phase_) {
    case Phase::kFilling:
      if (visited && under_way_ == 0) enter(Phase::kRunning);
      break;
    case Phase::kRunning:
      if (options_.duration.count() > 0 && now - run_began_ >= options_.duration) {
        enter(Phase::kDraining);
      }
      break;
    case Phase::kDraining:
      if (under_way_ == 0) enter(options_.verify ? Phase::kSweeping : Phase::kDone);
      break;
    case Phase::kSweeping:
      if (!visited) break;
      unchecked_ = visits_.keys() - visits_.done_count();
      enter(Phase::kDone);
      break;
    case Phase::kIdle:
    case Phase::kDone: break;
  }
}

bool Generator::Impl::next(std::uint32_t client, Ticket& ticket, std::string& request) {
  bool some = false;
  switch (phase_) {
    case Phase::kFilling: some = next_to_fill(client, ticket); break;
    case Phase::kRunning: some = next_to_run(client, ticket); break;
    case Phase::kSweeping: some = next_to_sweep(ticket); break;
    case Phase::kIdle:
    case Phase::kDraining:
    case Phase::kDone: break;
  }
  if (!some) return false;
  ++under_way_;
  append_request(ticket, request);
  return true;
}

bool Generator::Impl::next_to_fill(std::uint32_t client, Ticket& ticket) {
  // Past its time the filling ends with what is under way.
  if (loop_.now() - phase_began_ > options_.settle_timeout) return false;
  const auto key = visits_.next();
  if (!key) return false;
  const bool may_write = !options_.verify || verifier_.may_write(*key, client);
  ticket = may_write ? write_of(*key, client, loop_.now()) : read_of(*key, loop_.now());
  return true;
}

bool Generator::Impl::next_to_run(std::uint32_t client, Ticket& ticket) {
  if (options_.requests_per_second > 0) {
    if (sent_ >= allowed_) {
      if (!is_hungry_[client]) hungry_.push_back(client);
      is_hungry_[client] = true;
      return false;
    }
    ++sent_;
  }
  const Instant now = loop_.now();
  Rng& rng = rngs_[client];
  const std::uint32_t key = keys_.draw(rng, shifts(now));
  const bool write = !rng.chance(options_.read_share, 1'000) &&
                     (!options_.verify || verifier_.may_write(key, client));
  ticket = write ? write_of(key, client, now) : read_of(key, now);
  return true;
}

bool Generator::Impl::next_to_sweep(Ticket& ticket) {
  for (auto key = visits_.next(); key; key = visits_.next()) {
    if (verifier_.written(*key)) {
      ticket = read_of(*key, loop_.now());
      return true;
    }
    visits_.done();
  }
  return false;
}

void Generator::Impl::finished(std::uint32_t /*client*/, const Ticket& ticket, const Seen& seen) {
  const Instant now = loop_.now();
  const bool answered = seen.what != Seen::What::kUnknown;
  CHECK(under_way_ > 0);
  --under_way_;
  if (options_.verify) verifier_.finish(ticket, seen, now);
  if (!answered) measure_.error(seen.text);
  if (phase_ == Phase::kFilling || phase_ == Phase::kSweeping) {
    finish_visit(ticket, answered);
  } else if (answered && run_began_ > Instant{0}) {
    measure_.answer(now - ticket.sent);
  }
}

void Generator::Impl::finish_visit(const Ticket& ticket, bool answered) {
  const bool sweeping = phase_ == Phase::kSweeping;
  // A read while filling means that an earlier try had no answer; it is written now, unless it is a
  // counter that must not be touched any more.
  const bool write_it = !sweeping && !ticket.writes() && verifier_.may_write(ticket.key, 0);
  if (!answered || write_it) return visits_.again(ticket.key);
  visits_.done();
  if (sweeping) ++swept_;
  if (!sweeping && ticket.writes()) ++filled_;
}

Ticket Generator::Impl::read_of(std::uint32_t key, Instant now) const {
  if (options_.verify) return verifier_.begin_read(key, now);
  return {.key = key, .sent = now};
}

Ticket Generator::Impl::write_of(std::uint32_t key, std::uint32_t client, Instant now) {
  if (options_.verify) return verifier_.begin_write(key, client, rngs_[client], now);
  return {.key = key, .operation = Operation::kSet, .sent = now};
}

void Generator::Impl::append_request(const Ticket& ticket, std::string& out) {
  name_.clear();
  value_.clear();
  keys_.append_name(ticket.key, name_);
  const auto append = [&](std::initializer_list<std::string_view> args) {
    wire::append_command(out, {args.begin(), args.size()});
  };
  switch (ticket.operation) {
    case Operation::kGet: return append({"GET", name_});
    case Operation::kDelete: return append({"DEL", name_});
    case Operation::kSetZero: return append({"SET", name_, "0"});
    case Operation::kIncrement: return append({"INCR", name_});
    case Operation::kSet:
      verifier_.append_value(ticket, value_);
      return append({"SET", name_, value_});
    case Operation::kSetExpiring:
      verifier_.append_value(ticket, value_);
      return append({"SET", name_, value_, "PX", std::to_string(options_.ttl.count())});
  }
}

// Requests that nobody sent in time are caught up with for a little while only: after a long stall
// the rate goes on, it does not explode.
void Generator::Impl::give_credit(Instant now) {
  const auto since = static_cast<std::uint64_t>((now - run_began_).count());
  const std::uint64_t rate = options_.requests_per_second;
  allowed_ = static_cast<std::uint64_t>(Wide{since} * rate / 1'000'000'000);
  const std::uint64_t burst = std::max<std::uint64_t>(rate / kBurstsPerSecond, 1);
  if (allowed_ > sent_ + burst) sent_ = allowed_ - burst;
  const std::size_t fed =
      std::min<std::size_t>(hungry_.size(), allowed_ - std::min(allowed_, sent_));
  for (std::size_t i = 0; i < fed; ++i) {
    is_hungry_[hungry_[i]] = false;
    clients_[hungry_[i]]->wake();
  }
  hungry_.erase(hungry_.begin(), hungry_.begin() + static_cast<std::ptrdiff_t>(fed));
}

std::uint64_t Generator::Impl::shifts(Instant now) const {
  if (options_.shift_period.count() == 0 || run_began_ == Instant{0}) return 0;
  return static_cast<std::uint64_t>((now - run_began_) / options_.shift_period);
}

nanoseconds Generator::Impl::elapsed(Instant now) const {
  if (run_began_ == Instant{0}) return nanoseconds{0};
  return (run_ended_ == Instant{0} ? now : run_ended_) - run_began_;
}

Report Generator::Impl::report() const {
  Report report = measure_.report(elapsed(loop_.now()));
  report.findings = verifier_.findings();
  report.filled = filled_;
  report.swept = swept_;
  report.unchecked = unchecked_;
  return report;
}

Generator::Generator(net::Loop& loop, Options options)
    : impl_(std::make_unique<Impl>(loop, std::move(options))) {}
Generator::~Generator() = default;
void Generator::start(std::function<void(const Report&)> done) { impl_->start(std::move(done)); }
void Generator::stop() { impl_->stop(); }
void Generator::move_to(const std::vector<net::Address>& addresses) { impl_->move_to(addresses); }
bool Generator::has_moved() const { return impl_->has_moved(); }
Phase Generator::phase() const { return impl_->phase(); }
Generator::Progress Generator::progress() const { return impl_->progress(); }
Report Generator::report() const { return impl_->report(); }
Histogram Generator::take_latency() { return impl_->take_latency(); }
const Keys& Generator::keys() const { return impl_->keys(); }
std::vector<std::uint64_t> Generator::shares() const { return impl_->shares(); }

}  // namespace cleave::loadgen
