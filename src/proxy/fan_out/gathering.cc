#include "proxy/fan_out/gathering.h"

#include <algorithm>
#include <utility>

namespace cleave::proxy {
namespace {

constexpr std::size_t kGatheringsKept = 1'024;  // for later

}  // namespace

Gatherings::Gatherings(Dispatch& dispatch, WorkerCounters& counters, std::size_t bytes_max)
    : dispatch_(dispatch), counters_(counters), bytes_(bytes_max), pool_(kGatheringsKept) {}

Gatherings::~Gatherings() = default;

Gathering* Gatherings::open(Request& request, route::Merge merge, std::size_t places) {
  Gathering& gathering = *pool_.get(*this);
  gathering.request_ = &request;
  if (gathering.fan_out_.begin(merge, places)) return &gathering;
  counters_.refused.add();
  gathering.refuse(bytes_.refusal());
  return nullptr;
}

Gathering::Gathering(Gatherings& home) : home_(home), fan_out_(home.bytes_) {}

Command& Gathering::add_part(const route::Decision& decision) {
  fan_out_.part_added();
  return home_.dispatch_.make(*this, decision);
}

Command& Gathering::add_part() {
  fan_out_.part_added();
  return home_.dispatch_.make(*this);
}

Command& Gathering::make_whole(const route::Decision& decision, Go go) {
  go_ = std::move(go);
  return home_.dispatch_.make(*this, decision);
}

void Gathering::released(const Command& /*whole*/, std::string_view raw) {
  std::exchange(go_, nullptr)(*this, raw);
}

void Gathering::refuse(const std::string& text) {
  request_->answer_error(text);
  home_.pool_.put(this);
}

void Gathering::replied(const Command& part, std::string_view raw) {
  if (part.kind == Command::Kind::kFlush) {
    const bool refused = raw.front() == '-';
    fan_out_.part_flushed(title_of(part), refused ? raw.substr(1, raw.size() - 3) : "");
  } else if (part.subtracted) {
    fan_out_.part_subtracted(raw);
  } else {
    fan_out_.part_replied(raw, part.places);
  }
  end_if_complete();
}

void Gathering::failed(const Command& part, const std::string& text) {
  if (part.whole()) return refuse(text);
  if (part.kind == Command::Kind::kFlush) {
    fan_out_.part_flushed(title_of(part), text);
  } else {
    fan_out_.part_failed(text);
  }
  end_if_complete();
}

std::string Gathering::title_of(const Command& part) const {
  const auto& nodes = home_.dispatch_.nodes();
  const auto node =
      std::ranges::find(nodes, part.node, [](const auto& link) { return link->node; });
  return node == nodes.end() ? "a node that has left" : (*node)->title;
}

void Gathering::end_if_complete() {
  if (!fan_out_.complete()) return;
  if (fan_out_.overflowed()) home_.counters_.refused.add();
  request_->answer_by([this](std::string& out) { fan_out_.append_reply(out); });
  home_.pool_.put(this);
}

void Gathering::reset() {
  request_ = nullptr;
  fan_out_.end();
  go_ = nullptr;
}

}  // namespace cleave::proxy
