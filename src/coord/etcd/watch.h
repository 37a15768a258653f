// Watch: hears of each new value of one key over etcd's streaming answer, through reconnects.
// Private to coord/etcd.
//
//   kFresh: ask the owner to read all there is; its revision is where to go on
//     |  ^
//     v  | cancelled: compacted beyond where we were, token refused
//   kStreaming --lost--> reconnect at the revision behind the last event --> kStreaming
//
// Threads: one loop. May be destroyed in its callbacks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coord/etcd/client.h"
#include "coord/etcd/endpoints.h"
#include "coord/etcd/messages.h"

namespace cleave::coord::etcd {

class Watch {
 public:
  // What the owner does for it.
  struct Owner {
    // Reads the key now, by a call of the Client, and tells the revision that was read at.
    std::function<void(std::function<void(Result<Revision>)>)> read_fresh;
    // A new value.
    std::function<void(const std::string& value)> changed;
  };

  Watch(net::Loop& loop, const EtcdOptions& options, Client& client, Endpoints& endpoints,
        std::string key, Owner owner);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void start();
  // The endpoint is not to be trusted, whatever the connection to it seems to be.
  void on_bad_endpoint(std::size_t which);

 private:
  void step();
  void connect();
  void stream(Endpoints::Linked linked);
  void on_piece(std::string_view piece);
  bool on_line(std::string_view line);
  void retry();

  net::Loop& loop_;
  Client& client_;
  Endpoints& endpoints_;
  const std::string key_;
  const Owner owner_;
  Backoff backoff_;
  std::optional<Revision> from_;  // nullopt: to be read afresh
  std::unique_ptr<net::HttpLink> link_;
  std::size_t which_ = 0;
  std::string input_;  // the beginning of a line
  net::TimerId pause_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::coord::etcd
