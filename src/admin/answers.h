// Shared by the files of admin/api.h: the usual answers.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "admin/render.h"
#include "base/ids.h"
#include "base/result.h"
#include "net/http.h"
#include "ring/document/document.h"

namespace cleave::admin {

using Answer = std::function<void(net::HttpResponse)>;

net::HttpResponse ok(const Json& json);
// {"error": {"code": "conflict", "message": "..."}} with the HTTP status that fits the code.
net::HttpResponse error_response(const Error& error);
net::HttpResponse plain_error(int status, std::string_view code, std::string_view message);

// Answers an order that gives nothing: {"ok": true}.
std::function<void(Result<void>)> when_done(const Answer& done);
// Answers an order that gives a number, under this name.
std::function<void(Result<std::uint64_t>)> when_counted(const Answer& done, const char* name);
// Answers an order that began a move: 202 {"move": ID}, with "warnings" where there are any.
std::function<void(Result<MoveId>)> when_begun(const Answer& done, Json warnings = {});

// There is no document yet; with what is wrong at the coordinator, which for a router that is too
// old for the document is that it must be upgraded.
Error no_view(const control::Status& status);

// Clients cannot be served yet: why, server by server.
Error no_server(const control::Status& status, const std::vector<proxy::NodeHealth>& health);

// Errors: kNotFound, names the nodes that there are.
Result<NodeId> node_named(const ring::Document& document, const std::string& name);

}  // namespace cleave::admin
