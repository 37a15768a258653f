// Flushes: FLUSHALL and FLUSHDB, at every node (protocol rule 24).
//
// Held as one, so that all parts are sent in the same turn or none is.
//
// Threads: one worker.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutation.h"
#include "net/loop.h"
#include "proxy/clients/request.h"
#include "proxy/dispatch/dispatch.h"
#include "proxy/fan_out/gathering.h"
#include "route/route.h"

namespace cleave::proxy {

class Flushes {
 public:
  struct Options {
    net::Loop& loop;
    Dispatch& dispatch;
    Gatherings& gatherings;
    WorkerCounters& counters;
    Mutations mutations;
  };

  explicit Flushes(Options options) : options_(options) {}

  // `how`: the client's arguments behind the name, as flush_refusal lets them pass.
  void flush(Request& request, const route::Decision& decision,
             std::span<const std::string_view> how);

 private:
  void send_parts(Gathering& gathering, std::string_view raw);
  void send_apart(std::vector<Command*> parts, std::string_view raw);
  std::string against() const;

  Options options_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cleave::proxy
