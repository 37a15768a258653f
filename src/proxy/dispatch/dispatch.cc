#include "proxy/dispatch/dispatch.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "route/touched_elements.h"

namespace cleave::proxy {
namespace {

// A read of at most so many bytes is kept, so that it can be sent again after a broken connection.
constexpr std::size_t kRetryBytesMax = 4'096;

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

}  // namespace

Dispatch::Dispatch(Options options)
    : options_(std::move(options)),
      links_({.loop = options_.loop,
              .gate = options_.gate,
              .credentials = options_.credentials,
              .limits = options_.limits,
              .mutations = options_.mutations,
              .seed = options_.seed}),
      moving_(options_.limits, options_.mutations, options_.cleared),
      recorder_(options_.seed, options_.loop.now()),
      commands_(kPoolKept) {}

// ---- orders -----------------------------------------------------------------------------------

void Dispatch::adopt(const ring::RingSnapshot& view) {
  CHECK(view_ == nullptr || view_->epoch() < view->epoch());
  view_ = view;
  links_.adopt(*view_);
  recorder_.set_view(view_, options_.loop.now());
  moving_.adopt(*view_, unfinished_);
  release_held();
}

void Dispatch::set_health(NodeId node, const backend::Health& seen) {
  NodeLink* const link = links_.find(node);
  if (link == nullptr) return;
  const Incarnation& life = seen.identity.incarnation;
  link->down = seen.error;
  link->replica = seen.up && !life.run_id.empty() && !seen.identity.primary;
  const backend::Identity* const identity = link->pipe->identity();
  if (!seen.error.empty() || identity == nullptr || !link->pipe->usable()) return;
  const Error why{Code::kUnavailable, "the server has changed its identity"};
  link->lanes->leave_others(life, why);
  if (identity->incarnation != life) link->pipe->reset(why);
}

std::vector<heat::Report> Dispatch::take_heat(std::shared_ptr<const CommandCosts> costs) {
  if (costs != nullptr) costs_ = std::move(costs);
  return recorder_.take(options_.loop.now());
}

std::vector<NodeTraffic> Dispatch::traffic() const {
  std::vector<NodeTraffic> all;
  for (const auto& link : links_.all()) {
    const backend::PipeStats& stats = link->pipe->stats();
    all.push_back({.node = link->node,
                   .errors = link->errors,
                   .sent = stats.handed,
                   .replies = stats.replies,
                   .queued = stats.queued,
                   .served = stats.served});
  }
  return all;
}

void Dispatch::tick() {
  give_up_held();
  links_.sweep();
}

void Dispatch::stop(const std::string& text) {
  stopped_ = true;
  for (; !held_.empty(); held_.pop()) {
    tell_error(*held_.front(), text);
    commands_.put(held_.front());
  }
  links_.clear();
  CHECK(unfinished_.empty());
}

void Dispatch::break_fence(MoveId move, Epoch phase_epoch) {
  moving_.break_fence(move, phase_epoch);
  release_held();
}

bool Dispatch::is_fenced(ring::RangeIndex index) const {
  const std::uint32_t move = view_->entry(index).move;
  return move != ring::kNone && view_->document().moves[move].phase == ring::Phase::kFenced;
}

// ---- the way out ------------------------------------------------------------------------------

Command& Dispatch::make(Asker& asker) {
  CommandOwner& owner = *this;
  Command& command = *commands_.get(owner);
  command.asker = &asker;
  return command;
}

Command& Dispatch::make(Asker& asker, const route::Decision& decision) {
  Command& command = make(asker);
  command.writes = decision.writes;
  if (decision.spec == nullptr) return command;
  command.script = decision.spec->handling.special == route::Special::kScript;
  if (costs_ != nullptr) command.command_ns = costs_->ns(*decision.spec);
  return command;
}

void Dispatch::forward(Asker& asker, const route::Decision& decision, const wire::Request& said) {
  Command& command = make(asker, decision);
  for (const route::KeyPlace& key : decision.keys) {
    const std::string_view arg = said.args[key.position];
    CHECK(lies_in(arg, said.raw));
    command.keys.push_back({.token = key.token,
                            .offset = static_cast<std::uint32_t>(arg.data() - said.raw.data()),
                            .size = static_cast<std::uint32_t>(arg.size())});
  }
  command.index = view_->find(command.keys.front().token);
  place(command, said.raw);
}

void Dispatch::place(Command& command, std::string_view raw) {
  command.epoch = view_->epoch();
  command.request_bytes = raw.size();
  if (moving_.watching() && command.writes) note_elements(command, raw);
  if (moving_.fencing() && moving_.must_hold(command, *view_)) return hold(command, raw);
  const bool repeatable = !command.writes && raw.size() <= kRetryBytesMax;
  keep(command, raw, repeatable ? Keep::kAll : Keep::kKeys);
  transmit(command, raw);
}

// Rule 27: which elements of a key that is copied in pieces the write can touch. `raw` is the whole
// command, with the keys' places in it. One that was held at a fence since before the key was
// watched has none, and marks the whole key.
void Dispatch::note_elements(Command& command, std::string_view raw) {
  if (!moving_.watches(command, raw)) return;
  wire::Request said;
  wire::RequestParser parser(options_.limits);
  const Result<std::size_t> size = parser.parse(raw, said);
  if (!size || *size != raw.size()) return;
  std::vector<std::string> elements = route::touched_elements(said.args);
  if (elements.empty()) return;
  command.elements = std::make_unique<std::vector<std::string>>(std::move(elements));
}

// What must outlive the sending: the keys, for the dirty set and the heat; or everything.
void Dispatch::keep(Command& command, std::string_view raw, Keep what) {
  command.whole_bytes = what == Keep::kAll;
  if (what == Keep::kAll) {
    command.bytes.assign(raw);
    return;
  }
  command.bytes.clear();
  for (KeyRef& key : command.keys) {
    const auto offset = static_cast<std::uint32_t>(command.bytes.size());
    command.bytes.append(raw.substr(key.offset, key.size));
    key.offset = offset;
  }
}

void Dispatch::transmit(Command& command, std::string_view raw) {
  if (command.whole()) {
    std::exchange(command.asker, nullptr)->released(command, raw);
    return commands_.put(&command);
  }
  NodeLink* const link = command.kind == Command::Kind::kKeyed ? &links_.owner(command.index)
                                                               : links_.find(command.node);
  if (link == nullptr) return fail_now(command, Error{Code::kUnavailable, "the node has left"});
  command.link = link;
  if (!link->down.empty() && !link->pipe->responsive()) {
    return fail_now(command, Error{Code::kUnavailable, link->down});
  }
  const bool alone = raw.size() > kSharedBytesMax;
  if (alone && link->lanes->full()) {
    return fail_now(command, Error{Code::kExhausted, "too many large requests wait for it"});
  }
  unfinished_.add(command);
  if (options_.mutations.mark_at_send && command.writes) moving_.mark(command);
  if (alone) return link->lanes->send(raw, command);
  command.pipe = link->pipe.get();
  link->pipe->send(raw, command, command.replies);
}

// ---- holding (rule 9) -------------------------------------------------------------------------

void Dispatch::hold(Command& command, std::string_view raw) {
  if (held_.size() >= options_.limits.held_requests_max ||
      held_bytes_ + raw.size() > options_.limits.held_bytes_max) {
    options_.counters.errors.add();
    tell_error(command, "ERR cleave: too many requests wait for a moving range");
    return commands_.put(&command);
  }
  keep(command, raw, Keep::kAll);
  command.held_since = options_.loop.now();
  held_bytes_ += command.bytes.size();
  held_.push(&command);
  options_.counters.held_now.add();
  options_.counters.held_total.add();
}

// In the order they came, so that two commands of a client on one key stay in order.
void Dispatch::release_held() {
  const std::size_t waiting = held_.size();
  const Instant now = options_.loop.now();
  for (std::size_t i = 0; i < waiting; ++i) {
    Command& command = *held_.front();
    held_.pop();
    held_bytes_ -= command.bytes.size();
    if (!command.keys.empty()) command.index = view_->find(command.keys.front().token);
    command.epoch = view_->epoch();
    if (moving_.must_hold(command, *view_)) {
      held_bytes_ += command.bytes.size();
      held_.push(&command);
      continue;
    }
    options_.counters.held_now.sub();
    const auto held = std::chrono::duration_cast<milliseconds>(now - command.held_since).count();
    const std::size_t step = std::min<std::size_t>(static_cast<std::size_t>(held), kHoldSteps);
    options_.counters.hold_ms[step].add();
    transmit(command, command.bytes);
  }
}

// The fence stays (rule 11); it is the request that ends.
void Dispatch::give_up_held() {
  const Instant now = options_.loop.now();
  while (!held_.empty()) {
    Command& command = *held_.front();
    if (command.held_since + options_.limits.request_timeout > now) return;
    held_.pop();
    held_bytes_ -= command.bytes.size();
    options_.counters.held_now.sub();
    options_.counters.timeouts.add();
    tell_error(command, "ERR cleave: not executed: its range is on the move and was held for " +
                            std::to_string(options_.limits.request_timeout.count()) + " ms");
    commands_.put(&command);
  }
}

}  // namespace cleave::proxy
