// KeyCounts: DBSIZE, of all nodes, without what is the router's own.
//
// Where copies of moves may lie on servers, only the leader knows how many.
//
// Threads: one worker.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/result.h"
#include "net/loop.h"
#include "proxy/clients/request.h"
#include "proxy/dispatch/dispatch.h"
#include "proxy/fan_out/gathering.h"

namespace cleave::proxy {

// How many keys clients can read.
using KeysCounted = std::function<void(const Result<std::uint64_t>&)>;

class KeyCounts {
 public:
  struct Options {
    net::Loop& loop;
    Dispatch& dispatch;
    Gatherings& gatherings;
    Limits limits;
    // Asks the pool's leader; answered on `loop`, once, unless the control side has gone.
    std::function<void(KeysCounted)> ask_leader;
  };

  explicit KeyCounts(Options options) : options_(std::move(options)) {}

  void count(Request& request);
  // To be called now and then: a leader that ends in the middle of it answers nobody.
  void tick();
  // Those that wait for the leader fail with the error.
  void stop(const std::string& text);

 private:
  struct Counted {
    Request* request = nullptr;
    Instant asked{0};
  };

  bool has_copies() const;
  void counted(std::uint64_t number, const Result<std::uint64_t>& keys);
  void count_on_nodes(Request& request);

  Options options_;
  std::map<std::uint64_t, Counted> waiting_;  // by number: the leader is asked
  std::uint64_t asked_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cleave::proxy
