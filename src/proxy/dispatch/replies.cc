// From a pipe to whoever asked: what becomes of commands.
#include <utility>

#include "base/check.h"
#include "proxy/dispatch/dispatch.h"

namespace cleave::proxy {
namespace {

// How late the simulator's mutant "mark after the reply" is.
constexpr milliseconds kMarkLate{5};

std::string describe(const Command& command, const Error& why, backend::Outcome outcome) {
  const std::string node = command.link == nullptr ? "a node" : command.link->title;
  if (outcome == backend::Outcome::kUnknown) {
    if (!command.writes) return "ERR cleave: " + node + ": " + why.message;
    return "ERR cleave: the outcome of this write is unknown: " + node + ": " + why.message;
  }
  if (why.code == Code::kExhausted) return "ERR cleave: " + node + ": " + why.message;
  return "ERR cleave: " + node + " is down: " + why.message + "; the command was not sent";
}

}  // namespace

// The order is rule 10: the write is noted before its reply goes on to the client.
void Dispatch::replied(Command& command, std::string_view raw) {
  if (raw.front() == '-') note_error(command, cause_of(raw.substr(1)));
  count_heat(command, raw.size());
  moving_.served(command);
  if (options_.mutations.mark_after_reply) mark_later(command);
  settle(command, /*ran=*/!options_.mutations.mark_after_reply);
  tell(command, raw);
  commands_.put(&command);
}

void Dispatch::failed(Command& command, const Error& why, backend::Outcome outcome) {
  if (outcome == backend::Outcome::kUnknown) moving_.served(command);
  if (!retry(command, why, outcome)) {
    count_heat(command, 0);
    const bool late = why.code == Code::kTimeout;
    (late ? options_.counters.timeouts : options_.counters.errors).add();
    note_error(command, late ? ErrorCause::kTimeout : ErrorCause::kClosed);
    tell_error(command, describe(command, why, outcome));
  }
  if (outcome == backend::Outcome::kUnknown) return;  // `finished` follows
  settle(command, /*ran=*/false);
  commands_.put(&command);
}

void Dispatch::finished(Command& command) {
  settle(command, /*ran=*/true);
  commands_.put(&command);
}

void Dispatch::dropped(Command& command) {
  unfinished_.remove(command);
  tell_error(command, "ERR cleave: the router ends");
  commands_.put(&command);
}

// The command is finished by rule 6.
void Dispatch::settle(Command& command, bool ran) {
  unfinished_.remove(command);
  if (!moving_.idle()) moving_.finished(command, ran);
}

// It was never given to a pipe.
void Dispatch::fail_now(Command& command, const Error& why) {
  options_.counters.errors.add();
  note_error(command, ErrorCause::kClosed);
  count_heat(command, 0);
  tell_error(command, describe(command, why, backend::Outcome::kNotSent));
  commands_.put(&command);
}

void Dispatch::tell(Command& command, std::string_view raw) {
  if (Asker* const asker = std::exchange(command.asker, nullptr)) asker->replied(command, raw);
}

void Dispatch::tell_error(Command& command, const std::string& text) {
  if (Asker* const asker = std::exchange(command.asker, nullptr)) asker->failed(command, text);
}

void Dispatch::note_error(const Command& command, ErrorCause cause) {
  if (command.link != nullptr) ++command.link->errors[static_cast<std::size_t>(cause)];
}

// A read that was lost with its connection is sent once more, as a new command: the lost one stays
// unfinished until rule 6 says otherwise. A write never is.
bool Dispatch::retry(Command& command, const Error& why, backend::Outcome outcome) {
  if (command.writes || !command.whole_bytes || command.retried || stopped_) return false;
  if (outcome != backend::Outcome::kUnknown || why.code != Code::kUnavailable) return false;
  if (command.asker == nullptr || command.keys.empty() || !command.asker->may_repeat()) {
    return false;
  }
  for (const KeyRef& key : command.keys) {
    // Several keys go where they all still are, or nowhere.
    const ring::RangeIndex index = view_->find(key.token);
    const bool stays = &links_.owner(index) == command.link && !is_fenced(index);
    if (command.keys.size() > 1 && !stays) return false;
  }
  Command& again = make(*std::exchange(command.asker, nullptr));
  again.retried = true;
  again.script = command.script;
  again.command_ns = command.command_ns;
  again.keys = command.keys;
  again.places = command.places;
  again.index = view_->find(again.keys.front().token);
  options_.counters.retries.add();
  place(again, command.bytes);
  return true;
}

// ---- counting ---------------------------------------------------------------------------------

void Dispatch::count_heat(const Command& command, std::size_t reply_bytes) {
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

void Dispatch::mark_later(const Command& command) {
  if (!command.writes || moving_.idle()) return;
  CommandOwner& owner = *this;
  const auto late = std::make_shared<Command>(owner);
  late->kind = command.kind;
  late->writes = true;
  late->bytes = command.bytes;
  late->keys = command.keys;
  options_.loop.after(kMarkLate, [this, late, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) moving_.mark(*late);
  });
}

}  // namespace cleave::proxy
