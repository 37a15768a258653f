// Surveyor: looks at what is on the servers: facts, databases, and whether the ring finds the keys
// where they lie; and which known placement scheme would, where it does not.
//
// It walks over all keys of every server, or the first kSurveyedKeys of SCAN's order, which has
// nothing to do with tokens.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/observe/node_links.h"
#include "control/orders/status.h"
#include "control/orders/stray_orders.h"
#include "control/strays/stray_watch.h"
#include "net/loop.h"
#include "ring/view/view.h"

namespace cleave::control {

class Surveyor {
 public:
  static constexpr std::uint64_t kSurveyedKeys = 100'000;  // of a server
  static constexpr std::uint64_t kListedKeys = 2'000'000;  // looked at for a list of strays
  static constexpr std::size_t kFitKeysMin = 100;  // fewer are found by some scheme by chance

  struct Options {
    net::Loop& loop;
    NodeLinks& links;
    StrayWatch& strays;  // is told what was found
    std::function<ring::RingSnapshot()> view;
  };

  explicit Surveyor(Options options) : options_(std::move(options)) {}

  // While the servers are asked a node may come or go: what is there in the end is told.
  void survey(std::function<void(Survey)> done);
  void list(std::function<void(StrayList)> done);
  // The same of one node, with as many examples as usual.
  void look_at(NodeId node, std::function<void(SurveyedNode)> done);

 private:
  struct Look;
  void walk(const std::shared_ptr<Look>& look, std::function<void()> done);
  std::shared_ptr<Look> new_look(NodeId node, std::uint64_t keys_max, std::size_t listed_max) const;

  Options options_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

// So many keys of a server are tried with other schemes.
std::size_t sampled_keys(std::size_t servers);

// Keys that were met at each node, and the ring that is to find them.
struct SchemeSamples {
  net::Loop& loop;
  ring::RingSnapshot view;
  std::map<NodeId, std::vector<std::string>> samples;
  std::weak_ptr<void> alive;  // its owner is gone: no answer
};

// Adds the known scheme that fits, where that of the ring does not.
void search_schemes(SchemeSamples where, Survey survey, std::function<void(Survey)> done);

// Whether these nodes may be marked without force. Errors: kUnavailable where the keys of one could
// not be looked at; kConflict with everything that is against it, and the scheme that fits.
Result<void> check_adoption(const Survey& survey, const std::vector<NodeId>& nodes,
                            const ring::Document& document);

// "the scheme ... finds all but 3 of 4000 of them (...)", of the keys that were tried.
std::string fit_text(const ring::SchemeFit& fit);

// The names under which a scheme may have hashed the active nodes.
std::vector<ring::NamedNodes> names_of_nodes(const ring::Document& document);

}  // namespace cleave::control
