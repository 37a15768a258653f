// From a pipe to a client: what becomes of commands.
#include <utility>

#include "base/check.h"
#include "proxy/worker.h"

namespace cleave::proxy {
namespace {

// How late the simulator's mutant "mark after the reply" is.
constexpr milliseconds kMarkLate{5};

}  // namespace

void Command::reset() {
  constexpr std::size_t kKeptBytes = 4'096;
  kind = Kind::kKeyed;
  node = NodeId{};
  writes = false;
  whole_bytes = false;
  retried = false;
  script = false;
  replies = 1;
  request = nullptr;
  link = nullptr;
  pipe = nullptr;
  bytes.clear();
  if (bytes.capacity() > kKeptBytes) bytes.shrink_to_fit();
  keys.clear();
  if (keys.capacity() > kKeptBytes / sizeof(KeyRef)) keys.shrink_to_fit();
  places.clear();
  if (places.capacity() > kKeptBytes / sizeof(std::uint32_t)) places.shrink_to_fit();
  elements.reset();
  request_bytes = 0;
  command_ns = heat::kCommandNsDefault;
}

void Request::reset() {
  constexpr std::size_t kKeptBytes = 4'096;
  client = nullptr;
  next = nullptr;
  reply.clear();
  if (reply.capacity() > kKeptBytes) reply.shrink_to_fit();
  done = false;
  writes = false;
  if (fan_out.active()) fan_out.end();
}

// ---- from pipes -------------------------------------------------------------------------------

// The order is rule 10: the write is noted before its reply goes on to the client.
void Worker::replied(Command& command, std::string_view raw) {
  if (raw.front() == '-') note_error(command, cause_of(raw.substr(1)));
  count_heat(command, raw.size());
  moving_.served(command);
  if (options_.mutations.mark_after_reply) mark_later(command);
  settle(command, /*ran=*/!options_.mutations.mark_after_reply);
  deliver(command, raw);
  commands_.put(&command);
}

void Worker::failed(Command& command, const Error& why, backend::Outcome outcome) {
  if (outcome == backend::Outcome::kUnknown) moving_.served(command);
  if (!retry(command, why, outcome)) {
    count_heat(command, 0);
    const bool late = why.code == Code::kTimeout;
    (late ? counters().timeouts : counters().errors).add();
    note_error(command, late ? ErrorCause::kTimeout : ErrorCause::kClosed);
    deliver_error(command, describe(command, why, outcome));
  }
  if (outcome == backend::Outcome::kUnknown) return;  // `finished` follows
  settle(command, /*ran=*/false);
  commands_.put(&command);
}

void Worker::finished(Command& command) {
  settle(command, /*ran=*/true);
  commands_.put(&command);
}

void Worker::dropped(Command& command) {
  unfinished_.remove(command);
  deliver_error(command, "ERR cleave: the router ends");
  commands_.put(&command);
}

// The command is finished by rule 6.
void Worker::settle(Command& command, bool ran) {
  unfinished_.remove(command);
  if (!moving_.idle()) moving_.finished(command, ran);
}

// It was never given to a pipe.
void Worker::fail_now(Command& command, const Error& why) {
  counters().errors.add();
  note_error(command, ErrorCause::kClosed);
  count_heat(command, 0);
  deliver_error(command, describe(command, why, backend::Outcome::kNotSent));
  commands_.put(&command);
}

void Worker::note_error(const Command& command, ErrorCause cause) {
  if (command.link != nullptr) ++command.link->errors[static_cast<std::size_t>(cause)];
}

// ---- to clients -------------------------------------------------------------------------------

void Worker::deliver(Command& command, std::string_view raw) {
  Request* const request = std::exchange(command.request, nullptr);
  if (request == nullptr) return;
  if (!request->fan_out.active()) {
    if (request->client == nullptr) return release(*request);
    return request->client->answer(*request, raw);
  }
  FanOut& whole = request->fan_out;
  const std::size_t before = whole.kept_bytes();
  if (command.kind == Command::Kind::kLasting) {
    whole.part_subtracted(raw);
  } else if (command.kind == Command::Kind::kFlush) {
    const bool refused = raw.front() == '-';
    whole.part_flushed(title_of(command), refused ? raw.substr(1, raw.size() - 3) : "");
  } else if (gathered_bytes_ + raw.size() > gathered_bytes_max()) {
    whole.part_failed(too_much_gathered());
  } else {
    whole.part_replied(raw, command.places);
  }
  note_gathered(before, whole.kept_bytes());
  complete_fan_out(*request);
}

std::string Worker::title_of(const Command& command) {
  const NodeLink* const link = links_.find(command.node);
  return link == nullptr ? "a node that has left" : link->title;
}

// Of one moment: what the parts of replies that are not complete take, of all clients.
void Worker::note_gathered(std::size_t before, std::size_t after) {
  gathered_bytes_ = gathered_bytes_ - before + after;
}

std::string Worker::too_much_gathered() {
  counters().refused.add();
  return "ERR cleave: the replies of several servers that wait to become one have more than " +
         std::to_string(gathered_bytes_max()) + " bytes; ask for fewer or smaller keys at once";
}

void Worker::release(Request& request) {
  note_gathered(request.fan_out.kept_bytes(), 0);
  requests_.put(&request);
}

void Worker::deliver_error(Command& command, const std::string& text) {
  Request* const request = std::exchange(command.request, nullptr);
  if (request == nullptr) return;
  if (request->fan_out.active()) {
    const std::size_t before = request->fan_out.kept_bytes();
    if (command.kind == Command::Kind::kFlush) {
      request->fan_out.part_flushed(title_of(command), text);
    } else {
      request->fan_out.part_failed(text);
    }
    note_gathered(before, request->fan_out.kept_bytes());
    return complete_fan_out(*request);
  }
  if (request->client == nullptr) return release(*request);
  std::string reply;
  wire::append_error(reply, text);
  request->client->answer(*request, reply);
}

void Worker::complete_fan_out(Request& request) {
  if (!request.fan_out.complete()) return;
  if (request.client == nullptr) return release(request);
  std::string& out = request.client->reply_buffer(request);
  const std::size_t before = out.size();
  request.fan_out.append_reply(out);
  request.client->answered(request, out.size() - before);
}

std::string Worker::describe(const Command& command, const Error& why,
                             backend::Outcome outcome) const {
  const std::string node = command.link == nullptr ? "a node" : command.link->title;
  if (outcome == backend::Outcome::kUnknown) {
    if (!command.writes) return "ERR cleave: " + node + ": " + why.message;
    return "ERR cleave: the outcome of this write is unknown: " + node + ": " + why.message;
  }
  if (why.code == Code::kExhausted) return "ERR cleave: " + node + ": " + why.message;
  return "ERR cleave: " + node + " is down: " + why.message + "; the command was not sent";
}

// The client has sent a write after it: sent again, the read might see what came after it.
bool Worker::is_overtaken(const Request& request) {
  for (const Request* later = request.next; later != nullptr; later = later->next) {
    if (later->writes) return true;
  }
  return false;
}

// A read that was lost with its connection is sent once more, as a new command: the lost one stays
// unfinished until rule 6 says otherwise. A write never is.
bool Worker::retry(Command& command, const Error& why, backend::Outcome outcome) {
  if (command.writes || !command.whole_bytes || command.retried || stopped_) return false;
  if (outcome != backend::Outcome::kUnknown || why.code != Code::kUnavailable) return false;
  Request* const request = command.request;
  if (request == nullptr || request->client == nullptr) return false;
  if (command.keys.empty() || is_overtaken(*request)) return false;
  for (const KeyRef& key : command.keys) {
    // Several keys go where they all still are, or nowhere.
    const ring::RangeIndex index = view_->find(key.token);
    const bool stays = &links_.owner(index) == command.link && !is_fenced(index);
    if (command.keys.size() > 1 && !stays) return false;
  }
  Command& again = *commands_.get(*this);
  again.request = std::exchange(command.request, nullptr);
  again.retried = true;
  again.script = command.script;
  again.command_ns = command.command_ns;
  again.keys = command.keys;
  again.places = command.places;
  again.index = view_->find(again.keys.front().token);
  counters().retries.add();
  place(again, command.bytes);
  return true;
}

// ---- counting ---------------------------------------------------------------------------------

void Worker::count_heat(const Command& command, std::size_t reply_bytes) {
  if (command.keys.empty()) return;
  const auto share = static_cast<std::uint32_t>(command.keys.size());
  const std::uint32_t weight =
      heat::weight_ns(command.command_ns, command.request_bytes + reply_bytes) / share;
  const heat::Access access = command.writes ? heat::Access::kWrite : heat::Access::kRead;
  const bool placed = command.epoch == view_->epoch() && share == 1;
  for (const KeyRef& key : command.keys) {
    const ring::RangeIndex index = placed ? command.index : view_->find(key.token);
    recorder_.record(index, key.token, command.key(key), access, weight);
    if (command.script) recorder_.record_script(key.token);
  }
}

void Worker::mark_later(const Command& command) {
  if (!command.writes || moving_.idle()) return;
  const auto late = std::make_shared<Command>(*this);
  late->kind = command.kind;
  late->writes = true;
  late->bytes = command.bytes;
  late->keys = command.keys;
  options_.loop.after(kMarkLate, [this, late, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) moving_.mark(*late);
  });
}

}  // namespace cleave::proxy
