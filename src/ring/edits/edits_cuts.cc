// Edits of boundaries that change no owner: cuts laid and merged (ring/edits/edits.h).
#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "ring/edits/edit_steps.h"
#include "ring/edits/edits.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

// Cuts of one owner without a gap between them, all free to go: [first, end) of the list.
struct Run {
  std::size_t first;
  std::size_t end;
};

bool free_to_go(const Cut& cut, const TokenRange& range, UnixMillis now) {
  return range.first <= cut.range.first && cut.range.last <= range.last && cut.pinned_until <= now;
}

// The run that begins at `first`. Requires: cuts[first] is free to go.
Run run_from(const std::vector<Cut>& cuts, std::size_t first, const TokenRange& range,
             UnixMillis now) {
  CHECK(first < cuts.size() && free_to_go(cuts[first], range, now));
  std::size_t end = first + 1;
  while (end < cuts.size() && free_to_go(cuts[end], range, now) &&
         cuts[end].node == cuts[first].node &&
         cuts[end].range.first.value() - 1 == cuts[end - 1].range.last.value()) {
    ++end;
  }
  return {first, end};
}

// What is left of a run: nothing, or one cut. Cuts at its ends that agree with the base disappear;
// one between two that do not is joined with them, because taking it out would leave two.
void append_merged(std::vector<Cut>& merged, std::span<const Cut> run, const std::vector<Arc>& base,
                   UnixMillis now) {
  CHECK(!run.empty());
  const auto agrees = [&](const Cut& cut) { return owns_all(base, cut.node, {cut.range}); };
  while (!run.empty() && agrees(run.front())) run = run.subspan(1);
  while (!run.empty() && agrees(run.back())) run = run.first(run.size() - 1);
  if (run.empty()) return;
  merged.push_back(run.front());
  if (run.size() == 1) return;
  merged.back() = {.range = {run.front().range.first, run.back().range.last},
                   .node = run.front().node,
                   .reason = "merged from " + std::to_string(run.size()) + " cuts",
                   .created = now,
                   .pinned_until = {}};
}

}  // namespace

Result<Document> lay_cut(const Document& document, const Cut& cut) {
  if (cut.range.last < cut.range.first) {
    return fail(Code::kInvalid, "cut: the range ends before it begins");
  }
  if (find_node(document, cut.node) == nullptr) {
    return conflict("cut: " + describe(document, cut.node) + " is unknown");
  }
  if (const auto good = check_cuttable(document, "cut"); !good) {
    return std::unexpected(good.error());
  }
  if (!owns_all(owners(document), cut.node, {cut.range})) {
    return conflict("cut: " + describe(document, cut.node) + " does not own all of " +
                    to_string(cut.range));
  }
  Document next = advanced(document);
  lay(next.cuts, cut);
  if (const Result<void> valid = validate(next); !valid) return fail("cut", valid.error());
  return next;
}

Result<Document> merge_cuts(const Document& document, TokenRange range, UnixMillis now) {
  const std::vector<Arc> base = base_of(document);
  const std::vector<Cut>& cuts = document.cuts;
  std::vector<Cut> merged;
  for (std::size_t at = 0; at < cuts.size();) {
    if (!free_to_go(cuts[at], range, now)) {
      merged.push_back(cuts[at++]);
      continue;
    }
    const Run run = run_from(cuts, at, range, now);
    append_merged(merged, std::span(cuts).subspan(run.first, run.end - run.first), base, now);
    at = run.end;
  }
  CHECK(merged.size() <= cuts.size());
  if (merged.size() == cuts.size()) {
    return conflict("merge: nothing to merge in " + to_string(range));
  }
  CHECK(owners(overlay(base, merged)) == owners(overlay(base, cuts)));  // no key is elsewhere now
  Document next = advanced(document);
  next.cuts = std::move(merged);
  if (const Result<void> valid = validate(next); !valid) return fail("merge", valid.error());
  return next;
}

}  // namespace cleave::ring
