// What goes to every node: DBSIZE, FLUSHALL, FLUSHDB (rule 24).
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
  count_keys(client, said);
}

// DBSIZE of each node, less the router's own keys.
void Worker::count_keys(Client& client, const wire::Request& said) {
  std::string size;
  wire::append_command(size, said.args);
  const std::string lasting = count_lasting_command();
  Request& slot = *requests_.get();
  client.push(slot);
  slot.fan_out.begin(decision_.merge, 0);
  parts_.clear();
  for (const auto& link : links_.all()) {
    for (const Command::Kind kind : {Command::Kind::kSize, Command::Kind::kLasting}) {
      Command& part = new_command(slot);
      part.kind = kind;
      part.node = link->node;
      parts_.push_back(&part);
      slot.fan_out.part_added();
    }
  }
  for (Command* part : parts_) place(*part, part->kind == Command::Kind::kSize ? size : lasting);
  parts_.clear();
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
// before the first one is sent. With a node known to be down none goes, for half of a flush is
// worse than an error.
void Worker::send_flush(Command& whole, std::string_view raw) {
  if (const NodeLink* const down = down_node()) {
    counters().errors.add();
    deliver_error(whole,
                  "ERR cleave: nothing was flushed: " + down->title + " is down: " + down->down);
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

const NodeLink* Worker::down_node() const {
  for (const auto& link : links_.all()) {
    if (!link->down.empty() && !link->pipe->responsive()) return link.get();
  }
  return nullptr;
}

}  // namespace cleave::proxy
