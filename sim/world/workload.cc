#include "sim/world/workload.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace cleave::sim {
namespace {

constexpr std::uint64_t kClientsRng = 0x636C69656E74;
constexpr nanoseconds kPatience = seconds{3};  // a client waits so long for a reply

// "1000007:xxxx" -> 1000007.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

// A value as read; an unreadable text becomes a value that nobody wrote, hence a violation.
std::int64_t value_of(const wire::Reply& reply) {
  if (reply.type == wire::Reply::Type::kNull) return kAbsent;
  if (reply.type == wire::Reply::Type::kInteger) return reply.integer;
  return stored_number(reply.text);
}

std::vector<std::string> all_keys(const WorkloadOptions& options) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < options.registers; ++i) {
    // Some share a token by their hash tag.
    const std::string number = std::to_string(i);
    all.push_back(i % 4 == 3 ? "{r" + std::to_string(i - 1) + "}" + number : "r" + number);
  }
  for (std::size_t i = 0; i < options.counters; ++i) all.push_back("c" + std::to_string(i));
  for (std::size_t i = 0; i < options.expiring; ++i) all.push_back("t" + std::to_string(i));
  return all;
}

// "h0", "s1", "z2", "h3", ...
std::string collection_name(std::size_t number) {
  constexpr std::string_view kKinds = "hsz";
  return kKinds[number % kKinds.size()] + std::to_string(number);
}

// Of a hash the first half are registers, the others counters. Long, so that a set is big too.
std::string element_name(std::size_t number) {
  return "e" + std::to_string(number) + "-of-a-collection-that-goes-in-pieces";
}

// The command by which elements of this collection are read, written and removed.
struct ElementCommands {
  std::string_view read;
  std::string_view write;
  std::string_view remove;
};
ElementCommands commands_of(const std::string& key) {
  switch (key.front()) {
    case 'h': return {.read = "HGET", .write = "HSET", .remove = "HDEL"};
    case 's': return {.read = "SISMEMBER", .write = "SADD", .remove = "SREM"};
    default: return {.read = "ZSCORE", .write = "ZADD", .remove = "ZREM"};
  }
}

// The router promises that a command with such an error is not executed, now or later.
bool says_not_executed(std::string_view error) {
  for (const std::string_view words :
       {"the command was not sent", "not executed", "too many requests wait"}) {
    if (error.find(words) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::int64_t stored_number(std::string_view text) { return number_of(text).value_or(-1); }

// ---- one client
// -----------------------------------------------------------------------------------

void WorkloadClient::connect_soon() {
  const auto wait = static_cast<std::uint64_t>(nanoseconds(milliseconds{20}).count());
  loop_.after(nanoseconds(rng_.below(wait)), [this] { connect(); });
}

void WorkloadClient::connect() {
  const std::vector<net::Address> routers = workload_.routers_();
  if (routers.empty()) return connect_soon();
  loop_.connect(routers[rng_.below(routers.size())], milliseconds{500},
                [this](auto result) { connected(std::move(result)); });
}

void WorkloadClient::connected(Result<std::unique_ptr<net::Stream>> result) {
  if (!result) return connect_soon();
  stream_ = std::move(*result);
  ++connection_;
  pending_.clear();
  scanner_ = wire::ReplyScanner{Limits{}};
  stream_->start(*this);
  next_batch();
}

void WorkloadClient::next_batch() {
  const std::uint64_t connection = connection_;
  if (workload_.stopped_ && !workload_.reading_) {
    loop_.after(milliseconds{5}, [this, connection] {
      if (stream_ != nullptr && connection == connection_ && open_.empty()) next_batch();
    });
    return;
  }
  std::string bytes;
  const std::size_t depth = 1 + rng_.below(workload_.options_.pipeline_max);
  for (std::size_t i = 0; i < depth; ++i) {
    open_.push_back(workload_.reading_ ? workload_.plan_reading(name_)
                                       : workload_.plan(rng_, name_));
    bytes += open_.back().bytes;
  }
  stream_->send(bytes);
  watch(connection);
}

void WorkloadClient::watch(std::uint64_t connection) {
  loop_.after(kPatience, [this, connection] {
    if (stream_ == nullptr || connection != connection_ || open_.empty()) return;
    if (loop_.now() - open_.front().called < kPatience) return watch(connection);
    give_up();
  });
}

void WorkloadClient::give_up() {
  stream_.reset();
  for (const Planned& planned : open_) workload_.lose(planned);
  open_.clear();
  connect_soon();
}

void WorkloadClient::on_closed(const Error& /*why*/) { give_up(); }

void WorkloadClient::on_bytes(std::string_view bytes) {
  pending_.append(bytes);
  while (!pending_.empty()) {
    const auto size = scanner_.scan(pending_);
    if (size && *size == 0) return;
    const auto reply = size ? wire::parse_reply(std::string_view(pending_).substr(0, *size))
                            : Result<wire::Reply>(std::unexpected(size.error()));
    // A router that ends says why, to clients that wait for nothing too.
    if (reply && reply->is_error() && open_.empty()) return give_up();
    // More replies than requests, or no replies at all: the router is broken.
    if (!reply || open_.empty()) {
      workload_.broken_.push_back(name_ + " heard '" + pending_.substr(0, 100) + "'");
      return give_up();
    }
    pending_.erase(0, *size);
    answered(*reply);
  }
}

void WorkloadClient::answered(const wire::Reply& reply) {
  const Planned planned = std::move(open_.front());
  open_.pop_front();
  workload_.finish(planned, reply);
  failed_ = failed_ || reply.is_error();
  if (!open_.empty()) return;
  loop_.after(pause(), [this, connection = connection_] {
    if (stream_ == nullptr || connection != connection_) return;
    if (!rng_.chance(1, workload_.options_.roam_one_of)) return next_batch();
    stream_.reset();
    connect();
  });
}

// After an error a client waits, as a polite one does, lest unknown outcomes pile up.
nanoseconds WorkloadClient::pause() {
  const auto up_to = [this](nanoseconds longest) {
    return nanoseconds(rng_.below(static_cast<std::uint64_t>(longest.count()) + 1));
  };
  const WorkloadOptions& options = workload_.options_;
  const bool failed = std::exchange(failed_, false);
  const nanoseconds brief = up_to(failed ? nanoseconds(milliseconds{100}) : options.pause_max);
  if (workload_.reading_) return brief;
  return options.rhythm.wait(loop_.now(), brief, up_to(options.quiet_pause_max));
}

// ---- all of them
// ----------------------------------------------------------------------------------

Workload::Workload(Scheduler& scheduler, Network& network, const WorkloadOptions& options,
                   Routers routers)
    : scheduler_(scheduler),
      options_(options),
      routers_(std::move(routers)),
      keys_(all_keys(options)) {
  if (!options_.demand.workload.empty()) {
    demand_ = std::make_unique<Demand>(options_.demand);
    keys_.insert(keys_.end(), demand_->keys().begin(), demand_->keys().end());
  }
  for (const std::string& key : keys_) places_[key] = {.key = key, .element = {}};
  for (std::size_t i = 0; i < options_.collections; ++i) {
    collections_.push_back(collection_name(i));
    for (std::size_t n = 0; n < options_.elements; ++n)
      places_[collections_.back() + "/" + element_name(n)] = {.key = collections_.back(),
                                                              .element = element_name(n)};
  }
  for (std::size_t i = 0; i < options_.clients; ++i) {
    Process& process = network.add_process("10.3.0." + std::to_string(i + 1));
    loops_.push_back(std::make_unique<SimLoop>(network, process));
    clients_.push_back(std::make_unique<WorkloadClient>(
        *this, *loops_.back(), "client" + std::to_string(i + 1), scheduler.fork(kClientsRng + i)));
  }
}

Workload::~Workload() = default;

void Workload::start() {
  for (const auto& client : clients_) client->connect_soon();
}

void Workload::read_everything() {
  for (const auto& [name, place] : places_) unread_.insert(name);
  reading_ = true;
}

// ---- planning
// -------------------------------------------------------------------------------------

std::string Workload::new_value(Rng& rng, std::int64_t& value) {
  value = next_value_++;
  return std::to_string(value) + ":" + std::string(rng.below(options_.padding_max + 1), 'x');
}

Planned Workload::one(const std::string& key, Op op, const std::string& who,
                      std::initializer_list<std::string_view> args) {
  op.called = scheduler_.now();
  op.who = who;
  Planned planned{.bytes = wire::command(args), .ops = {}, .called = scheduler_.now()};
  planned.ops.push_back(history_.begin(key, std::move(op)));
  return planned;
}

Planned Workload::plan(Rng& rng, const std::string& who) {
  if (options_.flush_one_of > 0 &&
      (std::exchange(flush_next_, false) || rng.chance(1, options_.flush_one_of)))
    return plan_flush(who);
  if (demand_ != nullptr && rng.chance(2, 3)) return plan_demand(rng, who);
  if (options_.collections > 0 && rng.chance(1, 2)) return plan_element(rng, who);
  const std::uint64_t what = rng.below(100);
  if (what < 10) return plan_several(rng, who);
  if (what < 30 && options_.counters > 0) return plan_counter(rng, who);
  if (what < 45 && options_.expiring > 0) return plan_expiring(rng, who);
  return plan_register(rng, who);
}

Planned Workload::plan_demand(Rng& rng, const std::string& who) {
  return read_or_write(rng, demand_->draw(rng, scheduler_.now()), who);
}

Planned Workload::plan_register(Rng& rng, const std::string& who) {
  return read_or_write(rng, keys_[rng.below(options_.registers)], who);
}

Planned Workload::read_or_write(Rng& rng, const std::string& key, const std::string& who) {
  const std::uint64_t what = rng.below(100);
  const std::uint64_t reads = options_.reads_percent;
  if (what < reads) return one(key, {.kind = OpKind::kRead}, who, {"GET", key});
  if (what < reads + (100 - reads) / 5)
    return one(key, {.kind = OpKind::kDelete}, who, {"DEL", key});
  std::int64_t value = 0;
  const std::string text = new_value(rng, value);
  return one(key, {.kind = OpKind::kSet, .argument = value}, who, {"SET", key, text});
}

Planned Workload::plan_counter(Rng& rng, const std::string& who) {
  const std::string key = "c" + std::to_string(rng.below(options_.counters));
  const std::uint64_t what = rng.below(100);
  if (what < 30) return one(key, {.kind = OpKind::kRead}, who, {"GET", key});
  if (what < 33) return one(key, {.kind = OpKind::kDelete}, who, {"DEL", key});
  return one(key, {.kind = OpKind::kIncrement}, who, {"INCR", key});
}

Planned Workload::plan_expiring(Rng& rng, const std::string& who) {
  const std::string key = "t" + std::to_string(rng.below(options_.expiring));
  const std::uint64_t what = rng.below(100);
  if (what < 50) return one(key, {.kind = OpKind::kRead}, who, {"GET", key});
  if (what < 55) return one(key, {.kind = OpKind::kDelete}, who, {"DEL", key});
  std::int64_t value = 0;
  const std::string text = new_value(rng, value);
  if (what < 65)
    return one(key, {.kind = OpKind::kSet, .argument = value}, who, {"SET", key, text});
  const std::string ttl = std::to_string(50 + rng.below(1'000));
  Planned planned =
      one(key, {.kind = OpKind::kSet, .argument = value}, who, {"SET", key, text, "PX", ttl});
  planned.expires = milliseconds{number_of(ttl).value_or(0)};
  return planned;
}

Planned Workload::plan_several(Rng& rng, const std::string& who) {
  std::set<std::string> chosen;
  const std::size_t count = 2 + rng.below(5);
  while (chosen.size() < std::min(count, options_.registers))
    chosen.insert(keys_[rng.below(options_.registers)]);
  const std::uint64_t what = rng.below(3);
  constexpr std::string_view kCommands[] = {"MGET", "MSET", "DEL"};
  constexpr OpKind kKinds[] = {OpKind::kRead, OpKind::kSet, OpKind::kDelete};
  std::vector<std::string> args{std::string(kCommands[what])};
  Planned planned{.bytes = {}, .ops = {}, .per_key = what == 0, .called = scheduler_.now()};
  for (const std::string& key : chosen) {
    Op op{.kind = kKinds[what], .called = scheduler_.now(), .who = who};
    args.push_back(key);
    if (op.kind == OpKind::kSet) args.push_back(new_value(rng, op.argument));
    planned.ops.push_back(history_.begin(key, std::move(op)));
  }
  const std::vector<std::string_view> views(args.begin(), args.end());
  wire::append_command(planned.bytes, views);
  return planned;
}

Planned Workload::plan_element(Rng& rng, const std::string& who) {
  const std::string& key = collections_[rng.below(collections_.size())];
  const ElementCommands commands = commands_of(key);
  const std::uint64_t what = rng.below(100);
  if (what < 2) return plan_removal(key, who);
  const std::size_t half = options_.elements / 2;
  const bool hash = key.front() == 'h';
  if (hash && what >= 80) {
    const std::string counter = element_name(half + rng.below(half));
    return one(key + "/" + counter, {.kind = OpKind::kIncrement}, who,
               {"HINCRBY", key, counter, "1"});
  }
  const bool reads = what < 30;
  const bool removes = !reads && what < 50;
  std::set<std::size_t> chosen;
  const std::size_t count = reads ? 1 : 1 + rng.below(3);
  // Counters are read and removed too, but not set.
  while (chosen.size() < count)
    chosen.insert(rng.below(hash && !reads && !removes ? half : options_.elements));
  std::vector<std::string> args{
      std::string(reads ? commands.read : (removes ? commands.remove : commands.write)), key};
  Planned planned{
      .bytes = {}, .ops = {}, .member = reads && key.front() == 's', .called = scheduler_.now()};
  for (const std::size_t each : chosen) {
    const std::string name = element_name(each);
    Op op{.kind = reads ? OpKind::kRead : (removes ? OpKind::kDelete : OpKind::kSet),
          .argument = 1,
          .called = scheduler_.now(),
          .who = who};
    std::string text;
    if (!reads && !removes && key.front() != 's') text = new_value(rng, op.argument);
    if (!text.empty() && key.front() == 'z') args.push_back(std::to_string(op.argument));
    args.push_back(name);
    if (!text.empty() && hash) args.push_back(text);
    planned.ops.push_back(history_.begin(key + "/" + name, std::move(op)));
  }
  const std::vector<std::string_view> views(args.begin(), args.end());
  wire::append_command(planned.bytes, views);
  return planned;
}

// Of a collection with all its elements.
Planned Workload::plan_removal(const std::string& key, const std::string& who) {
  Planned planned{.bytes = wire::command({"DEL", key}), .ops = {}, .called = scheduler_.now()};
  for (const auto& [name, place] : places_) {
    if (place.key != key) continue;
    Op op{.kind = OpKind::kDelete, .called = scheduler_.now(), .who = who};
    planned.ops.push_back(history_.begin(name, std::move(op)));
  }
  return planned;
}

// A deletion of every key, each at a moment of its own.
Planned Workload::plan_flush(const std::string& who) {
  Planned planned{.bytes = wire::command({"FLUSHALL"}), .ops = {}, .called = scheduler_.now()};
  for (const auto& [name, place] : places_) {
    Op op{.kind = OpKind::kDelete, .called = scheduler_.now(), .who = who};
    planned.ops.push_back(history_.begin(name, std::move(op)));
  }
  return planned;
}

Planned Workload::plan_reading(const std::string& who) {
  const std::string name = unread_.empty() ? keys_.front() : *unread_.begin();
  const Place& place = places_.at(name);
  if (place.element.empty()) return one(name, {.kind = OpKind::kRead}, who, {"GET", name});
  Planned planned = one(name, {.kind = OpKind::kRead}, who,
                        {commands_of(place.key).read, place.key, place.element});
  planned.member = place.key.front() == 's';
  return planned;
}

// ---- replies
// --------------------------------------------------------------------------------------

void Workload::finish(const Planned& planned, const wire::Reply& reply) {
  scheduler_.note(EventKind::kOperation, planned.ops.size(), reply.text);
  if (reply.is_error()) {
    // Of a command that was split, other parts may have been executed.
    if (planned.ops.size() > 1 || !says_not_executed(reply.text)) return lose(planned);
    return history_.refuse(planned.ops.front());
  }
  const Instant now = scheduler_.now();
  const auto keys_asked = static_cast<std::int64_t>(planned.ops.size());
  for (std::size_t i = 0; i < planned.ops.size(); ++i) {
    const OpRef& ref = planned.ops[i];
    const OpKind kind = history_.by_key().at(ref.key)[ref.index].kind;
    std::optional<std::int64_t> result;
    if (kind == OpKind::kRead && planned.per_key) {
      if (i >= reply.elements.size() || reply.elements[i].is_error()) {
        history_.lose(ref);
        continue;
      }
      result = value_of(reply.elements[i]);
    } else if (kind == OpKind::kRead && planned.member) {
      result = reply.integer == 1 ? 1 : kAbsent;
    } else if (kind == OpKind::kRead || kind == OpKind::kIncrement) {
      result = value_of(reply);
    } else if (kind == OpKind::kDelete && reply.type == wire::Reply::Type::kInteger &&
               (reply.integer == 0 || reply.integer == keys_asked)) {
      result = reply.integer == 0 ? 0 : 1;  // of several keys only "none" and "all" tell of each
    }
    history_.end(ref, now, result);
    if (reading_) unread_.erase(ref.key);
  }
  expect_expiry(planned, now);
}

void Workload::lose(const Planned& planned) {
  for (const OpRef& ref : planned.ops) history_.lose(ref);
  expect_expiry(planned, std::nullopt);
}

void Workload::expect_expiry(const Planned& planned, std::optional<Instant> returned) {
  if (planned.expires == nanoseconds{0}) return;
  const Instant earliest = planned.called + planned.expires - options_.clock_slack;
  const Instant latest = returned.value_or(Instant{0}) + planned.expires + options_.clock_slack;
  history_.expect_expiry(planned.ops.front(), std::max(earliest, planned.called), latest);
}

}  // namespace cleave::sim
