// HttpService: answers what other routers ask this one over HTTP (peer/messages.h).
//
// It stands behind the same listener as the admin interface, whose token it wants. A question that
// is meant for another session (an earlier life of this process) is refused with kConflict.
//
// Threads: one loop.
#pragma once

#include <string>

#include "net/http.h"
#include "peer/messages.h"
#include "peer/router_peer.h"

namespace cleave::peer {

class HttpService {
 public:
  // `router` must outlive the service's questions.
  HttpService(const Clock& clock, SessionId session, RouterPeer& router)
      : clock_(clock), session_(std::move(session)), router_(router) {}

  // Whether the path is one of ours.
  static bool takes(const net::HttpRequest& request);
  // Requires: takes(request), and the caller has checked the token. `reply` runs once, perhaps much
  // later, unless the router goes first.
  void handle(const net::HttpRequest& request, const net::HttpServer::Reply& reply);

  // When another router last asked this session anything; 0: never.
  Instant last_asked() const { return last_asked_; }

 private:
  const Clock& clock_;
  SessionId session_;
  RouterPeer& router_;
  Instant last_asked_{0};
};

}  // namespace cleave::peer
