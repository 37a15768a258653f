// HttpPeer: another router, asked over HTTP (peer/messages.h).
//
// Each question is one request; one that waits (await_copying, await_fenced) is kept open by the
// other side until it can be answered, at most kPatience: then it is kTimeout, and to be asked
// again, as after every error but kConflict.
//
// Threads: one loop.
#pragma once

#include <string>
#include <string_view>

#include "net/loop.h"
#include "peer/router_peer.h"

namespace cleave::peer {

class HttpPeer final : public RouterPeer {
 public:
  struct Options {
    net::Loop& loop;
    SessionId session;  // whom the questions are meant for
    net::Address address;
    std::string token;  // empty: none is sent
  };

  static constexpr milliseconds kPatience{2'000};

  explicit HttpPeer(Options options) : options_(std::move(options)) {}

  const net::Address& address() const { return options_.address; }

  void await_copying(MoveId move, Epoch phase_epoch, Done<void> done) override;
  void take(MoveId move, Epoch phase_epoch, const TakeOrder& order, Done<DirtyBatch> done) override;
  void await_fenced(MoveId move, Epoch phase_epoch, Done<FencedAck> done) override;
  void take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) override;
  void count_keys(Done<std::uint64_t> done) override;

 private:
  void ask(std::string_view name, std::string question,
           std::function<void(Result<std::string>)> done);

  Options options_;
};

}  // namespace cleave::peer
