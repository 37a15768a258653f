#include "balance/explain.h"

#include "balance/plan/text.h"
#include "balance/steps/unsplittable.h"

namespace cleave::balance {
namespace {

std::string name_of(const ring::Document& document, NodeId id) {
  const ring::Node* node = ring::find_node(document, id);
  return node == nullptr ? "node " + std::to_string(id.value()) : "'" + node->name + "'";
}

std::string_view state_of(Engaged engaged) {
  switch (engaged) {
    case Engaged::kIdle: return "nothing to do";
    case Engaged::kCheap: return "working where it costs little";
    case Engaged::kSlow: return "working slowly";
    case Engaged::kHot: return "working";
  }
  return "unknown";
}

// "in 42 s", "in 59 min".
std::string wait_text(UnixMillis until, UnixMillis now) {
  const std::int64_t seconds = (until.value() - now.value() + 999) / 1'000;
  if (seconds <= 0) return "now";
  if (seconds < 120) return "in " + std::to_string(seconds) + " s";
  return "in " + std::to_string((seconds + 59) / 60) + " min";
}

// "; not 'd': it is not ready yet; not 'e': it lacks memory for 1.2 MB", or nothing.
std::string passed_over(const std::vector<Alternative>& alternatives,
                        const ring::Document& document) {
  std::string text;
  for (const Alternative& each : alternatives) {
    text += "; not " + name_of(document, each.node) + ": " + each.why;
  }
  return text;
}

}  // namespace

std::string summary(const Plan& plan) {
  return "peak is " + times(plan.peak_ppm) + " the mean, " + times(plan.predicted_ppm) +
         " after this plan; no placement can be better than " + times(plan.bound_ppm) + "; " +
         std::string(state_of(plan.trigger.engaged));
}

std::string explain(const PlannedMove& move) {
  std::string ranges;
  for (const ring::TokenRange& each : move.ranges) {
    if (!ranges.empty()) ranges += " ";
    ranges += ring::to_string(each);
  }
  return "move " + ranges + ": " + move.reason + "; about " + std::to_string(move.keys) +
         " keys, " + bytes_text(move.bytes);
}

std::string explain(const Verdict& verdict, UnixMillis now) {
  const std::string why(to_string(verdict.why));
  std::string line = verdict.why == Why::kUnsplittable ? why : "nothing (" + why + ")";
  line += ": " + verdict.text;
  if (verdict.until != UnixMillis{}) line += "; may change " + wait_text(verdict.until, now);
  return line;
}

std::string explain(const HeavyToken& token, const ring::Document& document) {
  std::string line = "heavy token " + ring::to_hex(token.token);
  if (!token.key.empty()) line += " (key " + quoted(token.key) + ")";
  line += " on " + name_of(document, token.node) + ": " + load_text(token.load) + ", " +
          times(token.ppm) + " of a fair share";
  if (token.ppm >= 1'000'000) line += "; unsplittable: " + name_of(token);
  return line;
}

std::vector<std::string> explain(const Plan& plan, const ring::Document& document, UnixMillis now) {
  std::vector<std::string> lines{summary(plan)};
  for (const PlannedMove& each : plan.moves) {
    lines.push_back(explain(each) + passed_over(each.alternatives, document));
  }
  for (const ring::TokenRange& each : plan.merges) {
    lines.push_back("merge the cuts in " + ring::to_string(each) +
                    ": cold for long, and of one owner");
  }
  for (const HeavyToken& each : plan.heavy) lines.push_back(explain(each, document));
  for (const Verdict& each : plan.verdicts) {
    lines.push_back(explain(each, now) + passed_over(each.alternatives, document));
  }
  if (!plan.advice.empty()) lines.push_back("advice: " + plan.advice);
  return lines;
}

}  // namespace cleave::balance
