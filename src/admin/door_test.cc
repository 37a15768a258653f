#include "admin/door.h"

#include <gtest/gtest.h>

#include <string>

namespace cleave::admin {
namespace {

const Door kDoor({.token = {}, .advertise = "router1.example:7380", .hosts = {"Cleave.Example"}});

int status_of(const Door& door, const std::string& method, const std::string& path,
              net::HttpHeaders headers) {
  net::HttpRequest request;
  request.method = method;
  request.target = request.path = path;
  request.headers = std::move(headers);
  const std::optional<net::HttpResponse> refused = door.refusal(request);
  return refused ? refused->status : 200;
}

TEST(Door, KnowsItsNamesAndEveryAddress) {
  for (const char* host : {"127.0.0.1:7380", "10.0.0.1", "[::1]:7380", "localhost:7380",
                           "LOCALHOST", "router1.example:7380", "cleave.example:80", ""}) {
    EXPECT_EQ(status_of(kDoor, "GET", "/status", {{"host", host}}), 200) << host;
  }
  for (const char* host : {"evil.example", "evil.example:7380", "localhost.evil.example:7380",
                           "127.0.0.1.evil.example", "xcleave.example", "1.2.3", "1.2.3.256"}) {
    EXPECT_EQ(status_of(kDoor, "GET", "/status", {{"host", host}}), 421) << host;
    EXPECT_EQ(status_of(kDoor, "POST", "/peer/v1/take", {{"host", host}}), 421) << host;
    EXPECT_EQ(status_of(kDoor, "GET", "/ready", {{"host", host}}), 200) << host;
    EXPECT_EQ(status_of(kDoor, "GET", "/metrics", {{"host", host}}), 200) << host;
  }
}

TEST(Door, RefusesPagesOfOtherSites) {
  const auto with_origin = [&](const std::string& origin) {
    return status_of(kDoor, "GET", "/status", {{"host", "localhost:7380"}, {"origin", origin}});
  };
  EXPECT_EQ(with_origin("http://localhost:7380"), 200);
  for (const char* foreign : {"http://evil.example", "http://localhost:7381", "null",
                              "https://localhost:7380", "http://localhost:7380.evil.example"}) {
    EXPECT_EQ(with_origin(foreign), 403) << foreign;
  }
}

TEST(Door, AnOrderIsJson) {
  const auto with_type = [&](const std::string& method, const std::string& type) {
    return status_of(kDoor, method, "/freeze", {{"host", "localhost"}, {"content-type", type}});
  };
  for (const char* method : {"POST", "DELETE", "PUT"}) {
    EXPECT_EQ(with_type(method, "application/json"), 200);
    EXPECT_EQ(with_type(method, "Application/JSON; charset=utf-8"), 200);
    for (const char* other : {"", "text/plain", "application/x-www-form-urlencoded",
                              "multipart/form-data", "text/plain; application/json"}) {
      EXPECT_EQ(with_type(method, other), 415) << method << other;
    }
  }
  EXPECT_EQ(with_type("GET", ""), 200);
  EXPECT_EQ(status_of(kDoor, "POST", "/peer/v1/take", {{"content-type", "application/msgpack"}}),
            200);
}

TEST(Door, AWrongTokenNamesTheVariableToSet) {
  const Door guarded({.token = "s3cret"});
  net::HttpRequest request;
  request.method = "GET";
  request.path = "/status";
  request.headers = {{"authorization", "Bearer wrong"}};
  const std::optional<net::HttpResponse> refused = guarded.refusal(request);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 401);
  EXPECT_NE(refused->body.find("CLEAVE_TOKEN"), std::string::npos);
}

}  // namespace
}  // namespace cleave::admin
