// HttpDirectory: finds this process's own router in memory and every other one at the address that
// the ring document gives for its session.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "net/loop.h"
#include "peer/http_peer.h"
#include "ring/document/document.h"

namespace cleave::peer {

class HttpDirectory final : public Directory {
 public:
  struct Options {
    net::Loop& loop;
    SessionId session;  // our own
    std::string token;
  };

  explicit HttpDirectory(Options options) : options_(std::move(options)) {}

  // To be called once our own router exists; it must outlive the directory's use.
  void set_own(RouterPeer& router) { own_ = &router; }
  // To be told of each new document: who is no member any more is forgotten.
  void follow(const ring::Document& document);

  // nullptr too for a router that says no address, or is older than the first version.
  RouterPeer* find(const SessionId& session) override;

 private:
  Options options_;
  RouterPeer* own_ = nullptr;
  std::map<SessionId, std::unique_ptr<HttpPeer>> others_;
};

}  // namespace cleave::peer
