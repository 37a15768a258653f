#include "control/begin/first_ring.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cleave::control {
namespace {

constexpr std::size_t kShownMax = 4;  // servers in one message
constexpr std::string_view kWhere = "see docs/OPERATIONS.md, \"Disaster recovery\"";

// "3 minutes ago"; clocks differ, so what lies ahead is now.
std::string ago(UnixMillis then, UnixMillis now) {
  constexpr std::int64_t kSecond = 1'000;
  constexpr std::int64_t kMinute = 60 * kSecond;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const std::int64_t past = std::max<std::int64_t>(now.value() - then.value(), 0);
  if (past < 2 * kMinute) return std::to_string(past / kSecond) + " seconds ago";
  if (past < 2 * kHour) return std::to_string(past / kMinute) + " minutes ago";
  if (past < 2 * kDay) return std::to_string(past / kHour) + " hours ago";
  return std::to_string(past / kDay) + " days ago";
}

std::string describe(const FoundServer& server, UnixMillis now) {
  const std::string who = server.node + " (" + server.address + ")";
  const std::string keys = std::to_string(server.keys) + " keys";
  const backend::RingNote& note = server.note;
  if (note.pool.empty() || note.ring != server.mark)
    return who + " carries the marker '" + server.mark + "' and " + keys;
  return who + " is node '" + note.node + "' of pool '" + note.pool + "' with " + keys +
         ", last told of epoch " + std::to_string(note.epoch.value()) + " " +
         ago(note.written, now);
}

// The first few, then how many more.
template <class Text>
std::string list(const std::vector<const FoundServer*>& servers, Text text) {
  CHECK(!servers.empty());
  std::string all;
  for (std::size_t i = 0; i < servers.size() && i < kShownMax; ++i)
    all += (all.empty() ? "" : "; ") + text(*servers[i]);
  if (servers.size() > kShownMax)
    all += "; and " + std::to_string(servers.size() - kShownMax) + " more";
  return all;
}

std::string forgot(const std::string& pool, const std::vector<const FoundServer*>& marked,
                   const RingPlaces& places, UnixMillis now) {
  const auto renamed = std::ranges::find_if(marked, [&](const FoundServer* server) {
    return !server->note.pool.empty() && server->note.pool != pool;
  });
  std::string text = places.coordinator + " holds no ring for pool '" + pool +
                     "', but these servers belong to one already: " +
                     list(marked, [now](const FoundServer& s) { return describe(s, now); }) +
                     ". No new ring is made, for it would look for their keys elsewhere. Ways on: "
                     "(1) let the configuration name the coordinator that has the ring";
  if (renamed != marked.end())
    text += ", and the pool by its name, '" + (*renamed)->note.pool + "'";
  text += "; (2) the ring is lost: cleave ring restore FILE, with what cleave ring save wrote";
  if (!places.saved.empty()) text += " or the newest file in " + places.saved;
  return text +
         "; (3) these keys do not matter, or are to be found anew: cleave adopt --new-ring; " +
         std::string(kWhere);
}

}  // namespace

Result<void> may_begin(const std::string& pool, const std::vector<FoundServer>& found,
                       const RingPlaces& places, UnixMillis now) {
  std::vector<const FoundServer*> marked;
  std::vector<const FoundServer*> silent;
  for (const FoundServer& server : found) {
    if (!server.error.empty()) {
      silent.push_back(&server);
    } else if (!server.mark.empty()) {
      marked.push_back(&server);
    }
  }
  if (!marked.empty()) return fail(Code::kConflict, forgot(pool, marked, places, now));
  if (silent.empty()) return {};
  return fail(
      Code::kUnavailable,
      places.coordinator + " holds no ring for pool '" + pool +
          "' yet, and a first one is made only when every server has been asked whether "
          "it belongs to one already; waiting for " +
          list(silent,
               [](const FoundServer& s) { return s.node + " (" + s.address + "): " + s.error; }) +
          ". To begin without asking: cleave adopt --new-ring; " + std::string(kWhere));
}

FirstRing::FirstRing(Options options)
    : loop_(options.look.loop),
      pool_(std::move(options.pool)),
      places_(std::move(options.places)),
      look_(std::move(options.look)) {}

void FirstRing::ask(std::function<void(Result<void>)> done) {
  CHECK(done != nullptr);
  look_.ask([this, done = std::move(done)](const std::vector<FoundServer>& found) {
    done(may_begin(pool_, found, places_, loop_.wall_now()));
  });
}

}  // namespace cleave::control
