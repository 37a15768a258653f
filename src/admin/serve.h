// The HTTP interface on a socket: net::HttpServer in front of Api.
#pragma once

#include <memory>

#include "admin/api.h"
#include "net/http.h"

namespace cleave::admin {

// `api` must outlive the server. Errors: kUnavailable when the address cannot be had.
inline Result<std::unique_ptr<net::HttpServer>> serve(net::Loop& loop, const net::Address& address,
                                                      Api& api) {
  return net::HttpServer::listen(
      loop, address, [&api](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
        api.handle(request, reply);
      });
}

}  // namespace cleave::admin
