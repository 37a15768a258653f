// Strangers: writers that go past the routers, each to one server for a while. What they write is
// theirs alone, under names that begin with kPrefix; nobody promises them anything.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/server.h"
#include "sim/network.h"
#include "sim/sim_loop.h"

namespace cleave::sim {

class Strangers final : private net::StreamEvents {
 public:
  static constexpr std::string_view kPrefix = "past:";

  Strangers(Scheduler& scheduler, Network& network,
            const std::vector<std::unique_ptr<ModelServer>>& servers);

  // Nothing, while one of them writes already.
  void write(std::size_t server, nanoseconds length);
  void end();

  // Since when it has been written to; 0: it is not. And when it last was.
  Instant since(std::size_t server) const { return target_ == server ? since_ : Instant{0}; }
  Instant last(std::size_t server) const { return last_[server]; }

 private:
  void connect();
  void go_on(std::uint64_t visit);
  void on_bytes(std::string_view bytes) override;
  void on_closed(const Error& why) override;

  Scheduler& scheduler_;
  const std::vector<std::unique_ptr<ModelServer>>& servers_;
  SimLoop loop_;
  std::unique_ptr<net::Stream> stream_;
  std::uint64_t visit_ = 0;
  std::size_t target_ = 0;
  Instant since_{0};  // 0: nobody writes
  Instant until_{0};
  std::uint64_t written_ = 0;
  std::vector<Instant> last_;
};

}  // namespace cleave::sim
