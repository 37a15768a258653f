// Client: one connection of the load generator, with a bounded number of requests under way.
//
// It asks its Source for requests at the end of each turn, as long as there is room, and tells it
// what became of each, in the order of sending. It reconnects for ever, to each address in turn.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "loadgen/verifier.h"
#include "net/loop.h"
#include "wire/reply_scanner.h"

namespace cleave::loadgen {

// Where a client's requests come from and go to.
class Source {
 public:
  virtual ~Source() = default;
  // Appends the client's next request. False: none now; `Client::wake` says when to ask again.
  virtual bool next(std::uint32_t client, Ticket& ticket, std::string& request) = 0;
  // Once for each request, in order. `seen` is valid during the call.
  virtual void finished(std::uint32_t client, const Ticket& ticket, const Seen& seen) = 0;
  // A connection was lost or could not be made.
  virtual void connection_lost(const Error& why) = 0;
};

class Client final : public net::StreamEvents, public net::TurnEnd {
 public:
  struct Options {
    std::uint32_t index = 0;
    std::vector<net::Address> addresses = {};  // starts at index modulo their number
    std::string password = {};                 // said first on each connection; empty: none
    milliseconds connect_timeout{1'000};
    milliseconds reply_timeout{5'000};
  };

  // Begins to connect.
  Client(net::Loop& loop, Options options, Source& source);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Requests under way at most, from now on.
  void set_depth(std::size_t depth) { depth_ = depth; }
  // Goes over to other addresses, once nothing is under way: no request is lost by it.
  void move_to(std::vector<net::Address> addresses);
  // Whether it is still connected as before the last `move_to`.
  bool is_leaving() const { return leaving_; }
  // The source may have something.
  void wake();
  // Gives the connection up if its oldest request has waited for too long. To be called often.
  void check(Instant now);
  bool idle() const { return waiting_.empty(); }

  void on_bytes(std::string_view bytes) override;
  void on_closed(const Error& why) override;
  void on_turn_end() override;

 private:
  void connect();
  void log_in();
  void reconnect_later();
  void give_up(const Error& why);
  // Bytes of `pending` that were whole replies; -1: the connection was given up.
  std::ptrdiff_t take_replies(std::string_view pending);
  void pause();

  net::Loop& loop_;
  Options options_;
  Source& source_;
  std::unique_ptr<net::Stream> stream_;
  wire::ReplyScanner scanner_{Limits{}};
  std::string unread_;
  std::string request_;
  std::deque<Ticket> waiting_;
  std::size_t depth_ = 1;
  std::size_t next_address_;
  milliseconds delay_{0};
  bool paused_ = false;
  bool greeting_open_ = false;  // the reply to AUTH has not come yet
  bool leaving_ = false;  // asks for nothing more, and connects anew when nothing is under way
  net::TimerId timer_{};  // reconnecting
  net::TimerId pause_timer_{};
  std::shared_ptr<Client*> self_;  // gone with us: a connection that comes too late finds nobody
};

// A reply as the verifier wants it. Requires: one whole reply.
Seen read_reply(std::string_view raw);

}  // namespace cleave::loadgen
