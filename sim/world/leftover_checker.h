// LeftoverChecker: the laws of leftovers (protocol rules 12, 13, 20 to 26), held against what the
// document says and what really lies on the model servers.
//
//   a copy is written only where an entry says so                                  (13)
//   no entry is made over keys that were there before, and no move begins over one (12, 13)
//   an entry leaves only by the commit of its move or by a cleaning that left nothing behind
//   whoever has lost a committed range makes its source keep it: no look that shows the loss is
//   followed by a deletion                                                         (23 e)
//   no foreign key is ever deleted, overwritten or committed onto
//   at the end there is no entry but kept ones, and no copy outside of these       (23)
//
// Threads: one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "ring/view/view.h"
#include "sim/model/server.h"

namespace cleave::sim {

class LeftoverChecker {
 public:
  // Servers and nodes of the document are in the same order. `reverts`: servers may come back with
  // what they had before, so copies that were deleted too.
  LeftoverChecker(const std::vector<std::unique_ptr<ModelServer>>& servers, bool reverts);

  // A key that nobody of the pool put there. `owned`: the ring gives it to that server all the
  // same.
  void add_foreign(std::size_t server, const std::string& key, const std::string& value,
                   bool owned);
  // The server is another life of itself now.
  void life_changed(std::size_t server, Instant now);
  // When a driver last asked the server who it is.
  void looked(std::size_t server, Instant at);
  // A driver's command runs at the server.
  void ran(const ring::RingView& view, std::size_t server, std::span<const std::string> args,
           Instant now);
  void changed(const ring::RingView& before, const ring::RingView& after, Instant now);
  void end(const ring::RingView& view);

  bool is_foreign(std::size_t server, const std::string& key) const;
  // Whether somebody else's keys lie where the entry says that copies are.
  bool has_foreign(const ring::RingView& view, const ring::Leftover& entry) const;
  const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Foreign {
    std::size_t server = 0;
    std::string key;
    std::string value;
    bool owned = false;  // by that server from the start
  };
  struct Life {
    Instant began{0};
    Instant looked{0};
    Instant listed{0};
  };

  void entered(const ring::RingView& view, const ring::Leftover& entry);
  void left(const ring::RingView& before, const ring::RingView& after, const ring::Leftover& entry);
  void check_foreign();
  std::vector<std::string> keys_under(const ring::RingView& view, NodeId node,
                                      const ring::RangeSet& ranges) const;
  void violation(const std::string& text);

  const std::vector<std::unique_ptr<ModelServer>>& servers_;
  bool reverts_;
  std::vector<Foreign> foreign_;
  std::vector<Life> lives_;
  std::map<MoveId, Instant> committed_;
  std::vector<std::string> violations_;
};

}  // namespace cleave::sim
