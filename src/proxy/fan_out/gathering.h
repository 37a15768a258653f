// Gathering: one request that several nodes answer. It asks for the parts, and answers the request
// when the last one is there. From a pool: Gatherings, a worker's.
//
// Threads: one worker.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "proxy/clients/request.h"
#include "proxy/commands/command.h"
#include "proxy/commands/pool.h"
#include "proxy/dispatch/dispatch.h"
#include "proxy/facts/counters.h"
#include "proxy/fan_out/fan_out.h"
#include "route/handling.h"

namespace cleave::proxy {

class Gatherings;

class Gathering final : public Asker {
 public:
  explicit Gathering(Gatherings& home);

  // All parts are added before the first one is sent: a part may fail at once, and the last one
  // that is answered ends the gathering.
  Command& add_part(const route::Decision& decision);
  Command& add_part();
  // A command that is held as one (Command::whole). `go`, once: it may go now, so add its parts and
  // send them, or refuse.
  using Go = std::function<void(Gathering&, std::string_view raw)>;
  Command& make_whole(const route::Decision& decision, Go go);
  // Answers with an error, without parts; it is ended.
  void refuse(const std::string& text);

  void replied(const Command& part, std::string_view raw) override;
  void failed(const Command& part, const std::string& text) override;
  bool may_repeat() const override { return request_->may_repeat(); }
  void released(const Command& whole, std::string_view raw) override;

  void reset();

 private:
  friend class Gatherings;
  std::string title_of(const Command& part) const;
  void end_if_complete();

  Gatherings& home_;
  Request* request_ = nullptr;
  FanOut fan_out_;
  Go go_;
};

// Those of one worker.
class Gatherings {
 public:
  // `bytes_max`: what all of them may keep of replies (Limits::fan_out_bytes_max).
  Gatherings(Dispatch& dispatch, WorkerCounters& counters, std::size_t bytes_max);
  ~Gatherings();
  Gatherings(const Gatherings&) = delete;
  Gatherings& operator=(const Gatherings&) = delete;

  // Answers `request` in time. nullptr: it is answered already, for there is no room for `places`.
  Gathering* open(Request& request, route::Merge merge, std::size_t places);

 private:
  friend class Gathering;

  Dispatch& dispatch_;
  WorkerCounters& counters_;
  GatheredBytes bytes_;
  Pool<Gathering> pool_;
};

}  // namespace cleave::proxy
