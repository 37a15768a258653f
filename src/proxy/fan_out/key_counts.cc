#include "proxy/fan_out/key_counts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "proxy/fan_out/everywhere.h"
#include "wire/resp.h"

namespace cleave::proxy {

void KeyCounts::count(Request& request) {
  if (!has_copies()) return count_on_nodes(request);
  const std::uint64_t number = ++asked_;
  waiting_.emplace(number, Counted{.request = &request, .asked = options_.loop.now()});
  options_.ask_leader(
      [this, number, alive = std::weak_ptr<bool>(alive_)](const Result<std::uint64_t>& keys) {
        if (!alive.expired()) counted(number, keys);
      });
}

bool KeyCounts::has_copies() const {
  const ring::Document& document = options_.dispatch.view().document();
  return !document.moves.empty() ||
         std::ranges::any_of(document.leftovers, [](const auto& left) { return !left.kept(); });
}

// Without an answer copies are counted too, which is better than none.
void KeyCounts::counted(std::uint64_t number, const Result<std::uint64_t>& keys) {
  const auto asked = waiting_.extract(number);
  if (asked.empty()) return;
  Request& request = *asked.mapped().request;
  if (!keys && request.wanted()) return count_on_nodes(request);
  request.answer_by(
      [&keys](std::string& out) { wire::append_integer(out, static_cast<std::int64_t>(*keys)); });
}

void KeyCounts::stop(const std::string& text) {
  for (const auto& [number, asked] : std::exchange(waiting_, {})) {
    asked.request->answer_error(text);
  }
}

void KeyCounts::tick() {
  while (!waiting_.empty()) {
    const auto& [number, oldest] = *waiting_.begin();
    if (oldest.asked + options_.limits.request_timeout > options_.loop.now()) return;
    counted(number, fail(Code::kTimeout, "the leader does not answer"));
  }
}

// DBSIZE of each node, less the router's own keys.
void KeyCounts::count_on_nodes(Request& request) {
  const std::string size = wire::command({"DBSIZE"});
  const std::string lasting = count_lasting_command();
  Gathering* const whole = options_.gatherings.open(request, route::Merge::kSumIntegers, 0);
  CHECK(whole != nullptr);
  std::vector<Command*> parts;
  for (const auto& link : options_.dispatch.nodes()) {
    for (const bool subtracted : {false, true}) {
      Command& part = whole->add_part();
      part.kind = Command::Kind::kNode;
      part.node = link->node;
      part.subtracted = subtracted;
      parts.push_back(&part);
    }
  }
  for (Command* part : parts) {
    options_.dispatch.place(*part, part->subtracted ? lasting : size);
  }
}

}  // namespace cleave::proxy
