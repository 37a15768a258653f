// Door: who may ask a router over HTTP, before it is looked at what is asked.
//
//   Host            an IP address, localhost, or a name that this router was told is its own: a
//                   page whose name was pointed at us (DNS rebinding) comes with the page's name
//   Origin          none, or our own: a page of another site is refused, whatever it asks
//   Authorization   the token, where one is set
//   Content-Type    of an order: JSON, which no page of another site can send without being asked
//                   first, and we do not answer that
//
// `/ready` needs no token and no Host, `/metrics` no Host: load balancers and scrapers call a
// router by names that it does not know.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http.h"

namespace cleave::admin {

class Door {
 public:
  struct Options {
    std::string token = {};               // empty: none needed
    std::string advertise = {};           // "host:port", or empty
    std::vector<std::string> hosts = {};  // further names of this router, without a port
  };

  explicit Door(Options options);

  // What the request is answered instead of being looked at; nullopt: it may come in.
  std::optional<net::HttpResponse> refusal(const net::HttpRequest& request) const;

 private:
  bool knows(std::string_view host) const;

  std::string token_;
  std::vector<std::string> names_;
};

}  // namespace cleave::admin
