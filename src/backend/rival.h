// Rival: a second, short-lived connection to a server whose first one is silent, to tell whether it
// is the server that does not answer or only that connection (a firewall or NAT that forgot it
// drops what is sent on it without a word).
//
// It says the same greeting as a Pipe, so it costs the server what a reconnection costs, and it
// touches no key.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/greeting.h"
#include "net/loop.h"
#include "wire/resp.h"

namespace cleave::backend {

class Rival final : public net::StreamEvents, public std::enable_shared_from_this<Rival> {
 public:
  struct Options {
    net::Address address;
    Credentials credentials;
    SessionId session;
    Limits limits;
  };

  // `answered` runs once, if the whole greeting is answered within the connect time-out; nothing
  // runs once the Rival is destroyed.
  Rival(net::Loop& loop, Options options, std::function<void()> answered);
  ~Rival() override;
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  void begin();
  // It will not answer any more.
  bool is_over() const { return over_; }

  void on_bytes(std::string_view bytes) override;
  void on_closed(const Error& why) override;

 private:
  void greet(std::unique_ptr<net::Stream> stream);
  void end();

  net::Loop& loop_;
  Options options_;
  std::function<void()> answered_;
  std::unique_ptr<net::Stream> stream_;
  wire::ReplyScanner scanner_;
  std::string pending_;
  std::size_t wanted_ = 0;
  std::vector<wire::Reply> replies_;
  net::TimerId timer_;
  bool over_ = false;
};

}  // namespace cleave::backend
