// FirstRing: whether a pool whose coordinator holds no ring may be given its first one.
//
// No ring means either that there was none, or that it was lost: another file, another prefix, a
// coordinator that was set up anew, a pool that was renamed. A new ring would then look for every
// moved key where it does not lie. The servers know the difference: one that was adopted carries a
// marker and a note of its ring. So a first ring is made only when every server could be asked and
// none carries a marker; otherwise the router waits, says what it found and what a person can do.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/begin/begin_options.h"
#include "control/observe/server_look.h"
#include "ring/edits/edits.h"

namespace cleave::control {

// Nothing: the first ring may be made. Errors: kConflict (servers belong to a ring), kUnavailable
// (somebody could not be asked); the message says who, and the ways on.
Result<void> may_begin(const std::string& pool, const std::vector<FoundServer>& found,
                       const RingPlaces& places, UnixMillis now);

class FirstRing {
 public:
  struct Options {
    ServerLook::Options look;
    std::string pool;
    RingPlaces places;
  };

  explicit FirstRing(Options options);

  // Looks at the servers, then answers as `may_begin` does.
  void ask(std::function<void(Result<void>)> done);
  ServerLook& look() { return look_; }

 private:
  net::Loop& loop_;
  std::string pool_;
  RingPlaces places_;
  ServerLook look_;
};

}  // namespace cleave::control
