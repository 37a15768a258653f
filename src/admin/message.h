// One request to the HTTP interface and its answer, free of any HTTP library: what admin/api.h
// takes and gives. admin/server.h turns bytes into these.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave::admin {

// A request with its parts decoded.
struct Request {
  std::string method;                        // upper case
  std::string path;                          // decoded, without the query
  std::map<std::string, std::string> query;  // decoded
  std::string authorization;                 // the header's value; empty: none
  std::string body;
};

// Its answer.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

// Decodes "/locate?key=a%20b" into path and query ('+' is a blank in the query). nullopt: a broken
// escape.
std::optional<Request> decode_target(std::string_view target);

// "a b/c" -> "a%20b%2Fc": for a path or a query value that we write ourselves.
std::string encode_component(std::string_view text);

// {"error": {"code": "conflict", "message": "..."}} with the HTTP status that fits the code.
Response error_response(const Error& error);

}  // namespace cleave::admin
