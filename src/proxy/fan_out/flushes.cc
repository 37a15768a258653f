#include "proxy/fan_out/flushes.h"

#include <utility>

#include "base/check.h"
#include "proxy/fan_out/everywhere.h"

namespace cleave::proxy {
namespace {

// How far apart the simulator's mutant sends the parts of a flush.
constexpr milliseconds kPartsApart{40};

}  // namespace

void Flushes::flush(Request& request, const route::Decision& decision,
                    std::span<const std::string_view> how) {
  Gathering* const gathering = options_.gatherings.open(request, route::Merge::kAllOk, 0);
  CHECK(gathering != nullptr);
  Command& whole = gathering->make_whole(
      decision, [this](Gathering& now, std::string_view raw) { send_parts(now, raw); });
  whole.kind = Command::Kind::kFlush;
  options_.dispatch.place(whole, flush_command(how));
}

// No range is fenced: all parts go, each of them unfinished in every range (Command::whole_range)
// before the first one is sent. With a node known to be down, or a replica, none goes, for half of
// a flush is worse than an error.
void Flushes::send_parts(Gathering& gathering, std::string_view raw) {
  if (const std::string why = against(); !why.empty()) {
    options_.counters.errors.add();
    return gathering.refuse("ERR cleave: nothing was flushed: " + why);
  }
  std::vector<Command*> parts;
  for (const auto& link : options_.dispatch.nodes()) {
    Command& part = gathering.add_part();
    part.writes = true;
    part.kind = Command::Kind::kFlush;
    part.node = link->node;
    part.request_bytes = raw.size();
    part.epoch = options_.dispatch.view().epoch();
    parts.push_back(&part);
  }
  if (options_.mutations.flush_parts_apart) return send_apart(std::move(parts), raw);
  for (Command* part : parts) options_.dispatch.transmit(*part, raw);
}

// As a mutant: a part that waits to be sent is nowhere counted.
void Flushes::send_apart(std::vector<Command*> parts, std::string_view raw) {
  Command* const part = parts.back();
  parts.pop_back();
  options_.dispatch.transmit(*part, raw);
  if (parts.empty()) return;
  options_.loop.after(kPartsApart, [this, parts = std::move(parts), bytes = std::string(raw),
                                    alive = std::weak_ptr<bool>(alive_)]() mutable {
    if (!alive.expired()) send_apart(std::move(parts), bytes);
  });
}

// Why no part of a flush is sent; empty: nothing is against it.
std::string Flushes::against() const {
  for (const auto& link : options_.dispatch.nodes()) {
    if (!link->down.empty() && !link->pipe->responsive())
      return link->title + " is down: " + link->down;
    if (link->replica) return link->title + " is a replica, which takes no writes";
  }
  return {};
}

}  // namespace cleave::proxy
