// What goes to every node: DBSIZE, FLUSHALL, FLUSHDB (rule 24).
#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "proxy/everywhere.h"
#include "proxy/worker.h"

namespace cleave::proxy {
namespace {

// How far apart the simulator's mutant sends the parts of a flush.
constexpr milliseconds kPartsApart{40};

}  // namespace

void Worker::everywhere(Client& client, const wire::Request& said) {
  if (decision_.merge == route::Merge::kAllOk) return flush_everywhere(client, said);
  count_keys(client);
}

// DBSIZE. Where copies of moves may lie on servers, only the leader knows how many.
void Worker::count_keys(Client& client) {
  Request& slot = *requests_.get();
  client.push(slot);
  if (!has_copies()) return count_on_nodes(slot);
  const std::uint64_t number = ++counts_asked_;
  counting_.emplace(number, Counted{.request = &slot, .asked = options_.loop.now()});
  options_.count_keys(
      [this, number, alive = std::weak_ptr<bool>(alive_)](const Result<std::uint64_t>& keys) {
        if (!alive.expired()) keys_counted(number, keys);
      });
}

bool Worker::has_copies() const {
  const ring::Document& document = view_->document();
  return !document.moves.empty() ||
         std::ranges::any_of(document.leftovers, [](const auto& left) { return !left.kept(); });
}

// Without an answer copies are counted too, which is better than none.
void Worker::keys_counted(std::uint64_t number, const Result<std::uint64_t>& keys) {
  const auto asked = counting_.extract(number);
  if (asked.empty()) return;
  Request& request = *asked.mapped().request;
  if (request.client == nullptr) return release(request);
  if (!keys) return count_on_nodes(request);
  scratch_.clear();
  wire::append_integer(scratch_, static_cast<std::int64_t>(*keys));
  request.client->answer(request, scratch_);
}

void Worker::give_up_counting(const std::string& text) {
  std::string reply;
  wire::append_error(reply, text);
  for (const auto& [number, asked] : std::exchange(counting_, {})) {
    Request& request = *asked.request;
    request.client == nullptr ? release(request) : request.client->answer(request, reply);
  }
}

// A leader that ends in the middle of it answers nobody.
void Worker::count_without_leader(Instant now) {
  while (!counting_.empty()) {
    const auto& [number, oldest] = *counting_.begin();
    if (oldest.asked + options_.limits.request_timeout > now) return;
    keys_counted(number, fail(Code::kTimeout, "the leader does not answer"));
  }
}

// DBSIZE of each node, less the router's own keys.
void Worker::count_on_nodes(Request& request) {
  std::string size;
  wire::append_command(size, std::array<std::string_view, 1>{"DBSIZE"});
  const std::string lasting = count_lasting_command();
  request.fan_out.begin(route::Merge::kSumIntegers, 0);
  std::vector<Command*> parts;
  for (const auto& link : links_.all()) {
    for (const Command::Kind kind : {Command::Kind::kSize, Command::Kind::kLasting}) {
      Command& part = *commands_.get(*this);
      part.request = &request;
      part.kind = kind;
      part.node = link->node;
      parts.push_back(&part);
      request.fan_out.part_added();
    }
  }
  for (Command* part : parts) place(*part, part->kind == Command::Kind::kSize ? size : lasting);
}

// Held as one, so that all parts are sent in the same turn or none is.
void Worker::flush_everywhere(Client& client, const wire::Request& said) {
  if (std::string why = flush_refusal(said.args); !why.empty()) {
    counters().refused.add();
    return answer_error(client, why);
  }
  Request& slot = *requests_.get();
  client.push(slot);
  Command& whole = new_command(slot);
  whole.kind = Command::Kind::kFlush;
  place(whole, flush_command(said.args.subspan(1)));
}

// No range is fenced: all parts go, each of them unfinished in every range (Command::whole_range)
// before the first one is sent. With a node known to be down, or a replica, none goes, for half of
// a flush is worse than an error.
void Worker::send_flush(Command& whole, std::string_view raw) {
  if (const std::string why = against_flush(); !why.empty()) {
    counters().errors.add();
    deliver_error(whole, "ERR cleave: nothing was flushed: " + why);
    return commands_.put(&whole);
  }
  Request* const request = std::exchange(whole.request, nullptr);
  const std::string bytes(raw);
  commands_.put(&whole);  // `raw` may lie in it
  if (request == nullptr) return;
  request->fan_out.begin(route::Merge::kAllOk, 0);
  std::vector<Command*> parts;
  for (const auto& link : links_.all()) {
    Command& part = *commands_.get(*this);
    part.request = request;
    part.writes = true;
    part.kind = Command::Kind::kFlush;
    part.node = link->node;
    part.request_bytes = bytes.size();
    part.epoch = view_->epoch();
    parts.push_back(&part);
    request->fan_out.part_added();
  }
  if (options_.mutations.flush_parts_apart) return send_apart(std::move(parts), bytes);
  for (Command* part : parts) transmit(*part, bytes);
}

// As a mutant: a part that waits to be sent is nowhere counted.
void Worker::send_apart(std::vector<Command*> parts, std::string_view raw) {
  Command* const part = parts.back();
  parts.pop_back();
  transmit(*part, raw);
  if (parts.empty()) return;
  options_.loop.after(kPartsApart, [this, parts = std::move(parts), bytes = std::string(raw),
                                    alive = std::weak_ptr<bool>(alive_)]() mutable {
    if (!alive.expired() && !stopped_) send_apart(std::move(parts), bytes);
  });
}

std::string Worker::against_flush() const {
  for (const auto& link : links_.all()) {
    if (!link->down.empty() && !link->pipe->responsive())
      return link->title + " is down: " + link->down;
    if (link->replica) return link->title + " is a replica, which takes no writes";
  }
  return {};
}

}  // namespace cleave::proxy
