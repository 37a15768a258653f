#include "peer/http_directory.h"

#include "ring/document/document.h"

namespace cleave::peer {

void HttpDirectory::follow(const ring::Document& document) {
  std::erase_if(others_,
                [&](const auto& other) { return !ring::has_router(document, other.first); });
  for (const ring::Router& router : document.routers) {
    if (router.session == options_.session || router.peer_version == 0) continue;
    if (others_.contains(router.session)) continue;  // an address is for life
    const Result<net::Address> address = net::parse_address(router.peer);
    if (!address) continue;
    others_[router.session] = std::make_unique<HttpPeer>(
        HttpPeer::Options{options_.loop, router.session, *address, options_.token});
  }
}

RouterPeer* HttpDirectory::find(const SessionId& session) {
  if (session == options_.session) return own_;
  const auto found = others_.find(session);
  return found == others_.end() ? nullptr : found->second.get();
}

}  // namespace cleave::peer
