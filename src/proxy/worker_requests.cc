// From a client's request to the pipes.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "proxy/worker.h"
#include "route/touched_elements.h"

namespace cleave::proxy {
namespace {

// A read of at most so many bytes is kept, so that it can be sent again after a broken connection.
constexpr std::size_t kRetryBytesMax = 4'096;

using route::same_word;

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// Redis closes the connection at these, lest a web page make a browser send commands.
bool begins_http(std::string_view name) {
  return same_word(name, "POST") || same_word(name, "Host:");
}

// What is answered as ever after a MULTI that was refused.
bool ends_multi(const route::Decision& decision) {
  if (decision.action != route::Action::kLocal) return false;
  switch (decision.local) {
    case route::Local::kMulti:
    case route::Local::kExec:
    case route::Local::kDiscard:
    case route::Local::kReset:
    case route::Local::kQuit: return true;
    default: return false;
  }
}

}  // namespace

void Worker::handle(Client& client, const wire::Request& said) {
  counters().requests.add();
  if (begins_http(said.args[0])) {
    return shed(client, ShedCause::kHttp, "speaks HTTP, so somebody may abuse a browser");
  }
  if (!client.facts.authenticated && !needs_no_password(said.args[0])) {
    counters().refused.add();
    return answer_error(client, "NOAUTH Authentication required.");
  }
  router_->route(said.args, *view_, decision_);
  if (client.facts.multi_refused && !ends_multi(decision_)) {
    counters().refused.add();
    return answer_error(client, kMultiRefusedBefore);
  }
  switch (decision_.action) {
    case route::Action::kForward: return forward(client, said);
    case route::Action::kSplit: return fan_out(client, said);
    case route::Action::kEverywhere: return everywhere(client, said);
    case route::Action::kLocal: return answer_locally(client, said);
    case route::Action::kRefuse: break;
  }
  counters().refused.add();
  answer_error(client, decision_.refusal);
}

void Worker::handle_broken(Client& client, const Error& why) {
  note_shed(client, ShedCause::kProtocol, why.message);
  client.finish_up();
  answer_error(client, "ERR " + why.message);
}

// ---- answers of the router's own --------------------------------------------------------------

void Worker::answer_now(Client& client, std::string_view reply) {
  if (client.idle()) return client.answer_directly(reply);
  Request& request = *requests_.get();
  client.push(request);
  client.answer(request, reply);
}

void Worker::answer_error(Client& client, std::string_view text) {
  scratch_.clear();
  wire::append_error(scratch_, text);
  answer_now(client, scratch_);
}

void Worker::answer_locally(Client& client, const wire::Request& said) {
  const LocalContext context{
      .commands = *commands_known_,
      .process = *options_.process,
      .password = options_.client_password,
      .nodes = view_->document().nodes.size(),
      .epoch = view_->epoch().value(),
      .now = options_.loop.now(),
      .wall = options_.loop.wall_now(),
  };
  scratch_.clear();
  const AfterLocal after =
      answer_local(decision_.local, said.args, client.facts, context, scratch_);
  if (after == AfterLocal::kClose) client.finish_up();
  answer_now(client, scratch_);
}

// ---- one node ---------------------------------------------------------------------------------

// The request as a clean frame whose arguments lie within its raw bytes.
wire::Request Worker::clean(const wire::Request& said) {
  if (said.multibulk) return said;
  reencoded_.clear();
  wire::append_command(reencoded_, said.args);
  wire::Request again;
  const Result<std::size_t> size = reparser_.parse(reencoded_, again);
  CHECK(size && *size == reencoded_.size());
  return again;
}

Command& Worker::new_command(Request& request) {
  Command& command = *commands_.get(*this);
  command.request = &request;
  command.writes = decision_.writes;
  request.writes = request.writes || decision_.writes;
  command.script =
      decision_.spec != nullptr && decision_.spec->handling.special == route::Special::kScript;
  if (costs_ != nullptr && decision_.spec != nullptr)
    command.command_ns = costs_->ns(*decision_.spec);
  return command;
}

void Worker::add_key(Command& command, std::string_view raw, const route::KeyPlace& key,
                     std::string_view arg) {
  CHECK(lies_in(arg, raw));
  command.keys.push_back({.token = key.token,
                          .offset = static_cast<std::uint32_t>(arg.data() - raw.data()),
                          .size = static_cast<std::uint32_t>(arg.size())});
}

void Worker::forward(Client& client, const wire::Request& said) {
  const wire::Request request = clean(said);
  Request& slot = *requests_.get();
  client.push(slot);
  Command& command = new_command(slot);
  for (const route::KeyPlace& key : decision_.keys) {
    add_key(command, request.raw, key, request.args[key.position]);
  }
  command.index = view_->find(command.keys.front().token);
  place(command, request.raw);
}

void Worker::place(Command& command, std::string_view raw) {
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
void Worker::note_elements(Command& command, std::string_view raw) {
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
void Worker::keep(Command& command, std::string_view raw, Keep what) {
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

void Worker::transmit(Command& command, std::string_view raw) {
  if (command.kind == Command::Kind::kFlush && command.node == NodeId{}) {
    return send_flush(command, raw);
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

void Worker::hold(Command& command, std::string_view raw) {
  if (held_.size() >= options_.limits.held_requests_max ||
      held_bytes_ + raw.size() > options_.limits.held_bytes_max) {
    counters().errors.add();
    deliver_error(command, "ERR cleave: too many requests wait for a moving range");
    return commands_.put(&command);
  }
  keep(command, raw, Keep::kAll);
  command.held_since = options_.loop.now();
  held_bytes_ += command.bytes.size();
  held_.push(&command);
  counters().held_now.add();
  counters().held_total.add();
}

// In the order they came, so that two commands of a client on one key stay in order.
void Worker::release_held() {
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
    counters().held_now.sub();
    const auto held = std::chrono::duration_cast<milliseconds>(now - command.held_since).count();
    const std::size_t step = std::min<std::size_t>(static_cast<std::size_t>(held), kHoldSteps);
    counters().hold_ms[step].add();
    transmit(command, command.bytes);
  }
}

// ---- several nodes ----------------------------------------------------------------------------

void Worker::fan_out(Client& client, const wire::Request& said) {
  const wire::Request request = clean(said);
  Request& slot = *requests_.get();
  client.push(slot);
  slot.fan_out.begin(decision_.merge, decision_.keys.size());
  gather_parts(slot);
  for (std::size_t i = 0; i < parts_.size(); ++i) slot.fan_out.part_added();
  // From here on a part may fail at once, and the last one completes the request.
  for (Command* part : parts_) {
    encode_part(request, *part);
    place(*part, scratch_);
  }
  parts_.clear();
}

// Keys of one owner become one part, in O(keys). A key of a fenced range is a part of its own: when
// it is released, its owner may be another one than its neighbours'.
void Worker::gather_parts(Request& request) {
  parts_.clear();
  for (std::uint32_t i = 0; i < decision_.keys.size(); ++i) {
    const ring::RangeIndex index = view_->find(decision_.keys[i].token);
    NodeLink& owner = links_.owner(index);
    const bool fenced = is_fenced(index);
    if (fenced || owner.part == 0) {
      parts_.push_back(&new_command(request));
      parts_.back()->index = index;
      if (!fenced) owner.part = static_cast<std::uint32_t>(parts_.size());
    }
    Command& part = *parts_[fenced ? parts_.size() - 1 : owner.part - 1];
    part.places.push_back(i);
  }
  for (const auto& link : links_.all()) link->part = 0;
}

bool Worker::is_fenced(ring::RangeIndex index) const {
  const std::uint32_t move = view_->entry(index).move;
  return move != ring::kNone && view_->document().moves[move].phase == ring::Phase::kFenced;
}

// Into scratch_, with the keys' places in it.
void Worker::encode_part(const wire::Request& said, Command& part) {
  const std::uint32_t each = decision_.args_per_key;
  scratch_.clear();
  wire::append_array_header(scratch_, 1 + part.places.size() * each);
  wire::append_bulk(scratch_, said.args[0]);
  for (const std::uint32_t place : part.places) {
    const route::KeyPlace& key = decision_.keys[place];
    for (std::uint32_t i = 0; i < each; ++i) {
      const std::string_view arg = said.args[key.position + i];
      wire::append_bulk(scratch_, arg);
      if (i > 0) continue;
      part.keys.push_back({.token = key.token,
                           .offset = static_cast<std::uint32_t>(scratch_.size() - 2 - arg.size()),
                           .size = static_cast<std::uint32_t>(arg.size())});
    }
  }
}

}  // namespace cleave::proxy
