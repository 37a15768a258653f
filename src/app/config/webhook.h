// Webhook: advice for people (add nodes; somebody writes past the routers) is sent on as JSON to an
// HTTP address, once each time it begins to hold.
//
// At most one try each: who listens may be down, and the same advice stands in `/status`, in the
// history and in the metrics. Failures are logged.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/loop.h"
#include "net/url.h"

namespace cleave::app {

// "http://HOST[:PORT][/PATH]". Errors: kInvalid.
Result<net::Url> parse_webhook_url(std::string_view text);

void send_webhook(net::Loop& loop, const net::Url& url, std::string body,
                  std::function<void(const std::string&)> log);

}  // namespace cleave::app
