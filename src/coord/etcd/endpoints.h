// Endpoints: the members of an etcd cluster, which of them were bad lately, and how to reach one.
// Private to coord/etcd.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coord/backoff.h"
#include "coord/etcd/etcd_register.h"
#include "net/http_link.h"
#include "net/tls_stream.h"

namespace cleave::coord::etcd {

class Endpoints {
 public:
  // A connection and the number of its endpoint.
  struct Linked {
    std::unique_ptr<net::HttpLink> link;
    std::size_t which = 0;
  };
  using Done = std::function<void(Result<Linked>)>;

  Endpoints(net::Loop& loop, const EtcdOptions& options) : loop_(loop), options_(options) {}

  // To be called once, before all else. Errors: kInvalid.
  Result<void> open();

  // To a good one; if there is none, to the one after the latest tried. A failure makes it bad.
  // `done` runs later, unless the owner is gone.
  void connect(Done done);

  void mark_good(std::size_t which);
  // Tells `on_bad`.
  void mark_bad(std::size_t which);
  // Some endpoint may be tried at once.
  bool any_good() const;
  const std::string& name(std::size_t which) const { return all_[which].name; }
  std::size_t size() const { return all_.size(); }

  std::function<void(std::size_t which)> on_bad = [](std::size_t) {};

 private:
  struct One {
    std::string name;  // "http://127.0.0.1:2379"
    net::Address address;
    bool tls = false;
    Instant bad_until{};
  };

  static Result<One> parse(const std::string& url);
  std::size_t choose();

  net::Loop& loop_;
  const EtcdOptions& options_;
  std::vector<One> all_;
  std::size_t latest_ = 0;
  std::shared_ptr<const net::TlsContext> tls_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::coord::etcd
