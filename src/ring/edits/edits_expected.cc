// Edits of what is expected: events announced and taken back (ring/edits/edits.h).
#include <algorithm>
#include <string>
#include <utility>

#include "ring/document/text_format.h"
#include "ring/edits/edit_steps.h"
#include "ring/edits/edits.h"

namespace cleave::ring {
namespace {

std::string named(const ExpectedEvent& event) { return "event '" + event.name + "'"; }

void drop_ended(std::vector<ExpectedEvent>& events, UnixMillis now) {
  std::erase_if(events, [&](const ExpectedEvent& event) { return event.end <= now; });
}

std::size_t count_loads(const Document& document) {
  std::size_t loads = 0;
  for (const ExpectedEvent& event : document.expected) loads += event.loads.size();
  return loads;
}

// What could hold in no document: told of the events alone, in words for who announces them.
Result<void> check_events(const std::vector<ExpectedEvent>& events, UnixMillis now) {
  if (events.empty()) return fail(Code::kInvalid, "expect: no event is given");
  for (const ExpectedEvent& event : events) {
    if (event.end <= now && event.start < event.end) {
      return fail(Code::kInvalid, "expect: " + named(event) + " is over already");
    }
    for (std::size_t at = 1; at < event.loads.size(); ++at) {
      const TokenRange& range = event.loads[at].range;
      if (!range.overlaps(event.loads[at - 1].range)) continue;
      return fail(Code::kInvalid, "expect: " + named(event) + " has two loads that share tokens: " +
                                      to_string(event.loads[at - 1].range) + " and " +
                                      to_string(range));
    }
  }
  const auto twice = std::ranges::adjacent_find(events, {}, &ExpectedEvent::name);
  if (twice == events.end()) return {};
  return fail(Code::kInvalid, "expect: " + named(*twice) + " is given twice");
}

Result<void> check_loads_known(const Document& document) {
  for (const Router& router : document.routers) {
    if (router.reader >= kTextFormatExpected) continue;
    return fail(Code::kConflict, "expect: router '" + router.session.value() +
                                     "' is of a version that knows no expected load; upgrade it");
  }
  return {};
}

}  // namespace

Result<Document> expect(const Document& document, std::vector<ExpectedEvent> events,
                        UnixMillis now) {
  std::ranges::sort(events, {}, &ExpectedEvent::name);
  for (ExpectedEvent& event : events) {
    std::ranges::sort(event.loads, {}, &ExpectedLoad::range);
  }
  if (const Result<void> good = check_events(events, now); !good) {
    return std::unexpected(good.error());
  }
  if (const Result<void> good = check_loads_known(document); !good) {
    return std::unexpected(good.error());
  }
  Document next = advanced(document);
  drop_ended(next.expected, now);
  std::erase_if(next.expected, [&](const ExpectedEvent& old) {
    return std::ranges::binary_search(events, old.name, {}, &ExpectedEvent::name);
  });
  const std::size_t others = count_loads(next);
  std::ranges::move(events, std::back_inserter(next.expected));
  std::ranges::sort(next.expected, {}, &ExpectedEvent::name);
  const std::size_t loads = count_loads(next);
  if (others > 0 && loads > kExpectedLoadsMax) {
    return fail(Code::kConflict, "expect: " + std::to_string(loads) +
                                     " loads with those of other events, more than " +
                                     std::to_string(kExpectedLoadsMax) + "; forget some");
  }
  if (const Result<void> valid = validate(next); !valid) return fail("expect", valid.error());
  return next;
}

Result<Document> forget(const Document& document, std::string_view event, UnixMillis now) {
  if (find_event(document, event) == nullptr) {
    return fail(Code::kConflict, "forget: no event '" + std::string(event) + "' is expected");
  }
  Document next = advanced(document);
  std::erase_if(next.expected, [&](const ExpectedEvent& each) { return each.name == event; });
  drop_ended(next.expected, now);
  return next;
}

Result<Document> forget_ended(const Document& document, UnixMillis now) {
  Document next = advanced(document);
  drop_ended(next.expected, now);
  if (next.expected.size() == document.expected.size()) {
    return fail(Code::kConflict, "forget: no event has ended");
  }
  return next;
}

}  // namespace cleave::ring
