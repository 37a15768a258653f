// Client: calls of etcd's JSON gateway, one after another on one kept connection, with
// authentication, deadlines, and the next endpoint when one fails. Private to coord/etcd.
//
//   call -> waiting -> current -> answered
//              ^          | lost, may be repeated
//              +----------+
//
// Threads: one loop. May be destroyed in its callbacks; what is open then is never answered.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "coord/etcd/endpoints.h"

namespace cleave::coord::etcd {

class Client {
 public:
  // May a request whose outcome is unknown be sent again?
  enum class Repeat : std::uint8_t { kAllowed, kNever };
  // The body of an answer with status 200. Errors: kUnavailable (no effect), kTimeout (unknown),
  // kNotFound and kConflict (etcd's own NotFound, such as of a lease, and OutOfRange, such as of a
  // compacted revision; no effect).
  using Done = std::function<void(Result<std::string>)>;

  Client(net::Loop& loop, const EtcdOptions& options, Endpoints& endpoints);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void call(std::string path, std::string body, Repeat repeat, Done done);

  // What a request of one's own needs: the token, if there is a user. False: have a call first.
  bool ready() const { return options_.user.empty() || authenticated_; }
  const std::string& token() const { return token_; }
  void forget_token() { authenticated_ = false; }

 private:
  struct Call {
    std::string path;
    std::string body;
    Repeat repeat = Repeat::kNever;
    Done done;
    net::TimerId deadline;
    int tokens_refused = 0;
  };
  using SharedCall = std::shared_ptr<Call>;

  void pump();
  void connect();
  void send(const std::string& path, const std::string& body,
            std::function<void(Result<net::HttpReply>)> done);
  void authenticate();
  void on_authenticated(const net::HttpReply& reply);
  void on_reply(const net::HttpReply& reply);
  void on_deadline(const SharedCall& call);
  bool refused_token(const net::HttpReply& reply) const;
  void lose(const Error& why);
  void give_up_link(const Error& why);
  void wait_and_pump();
  void fail_waiting(const Error& why);
  void answer(const SharedCall& call, Result<std::string> result);

  net::Loop& loop_;
  const EtcdOptions& options_;
  Endpoints& endpoints_;
  Backoff backoff_;

  std::deque<SharedCall> waiting_;
  SharedCall current_;
  std::unique_ptr<net::HttpLink> link_;
  std::size_t which_ = 0;
  bool connecting_ = false;
  bool authenticating_ = false;
  bool authenticated_ = false;
  std::string token_;  // empty and authenticated: etcd has no authentication
  net::TimerId attempt_;
  net::TimerId pause_;
  std::string latest_error_ = "not connected yet";
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::coord::etcd
