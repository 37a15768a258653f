// The JSON body of an order, read strictly: what is unknown, missing or of the wrong type is an
// error that names the field, because an order that is half understood is worse than a refused one.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "ring/token_range.h"

namespace cleave::admin {

// One object. The first error is kept and reported by `finish`.
class Body {
 public:
  // An empty text counts as {}.
  explicit Body(std::string_view text);

  bool has(const std::string& field) const;
  // Absent: "", and an error if it is required.
  enum class Need : std::uint8_t { kRequired, kOptional };
  std::string text(const std::string& field, Need need);
  std::optional<std::uint64_t> number(const std::string& field, std::uint64_t min,
                                      std::uint64_t max);
  // Milliseconds since 1970.
  std::optional<UnixMillis> time(const std::string& field);
  // A token as hexadecimal digits.
  std::optional<Token> token(const std::string& field);
  // {"first": "00..", "last": "ff.."}
  std::optional<ring::TokenRange> range(const std::string& field);
  std::vector<ring::TokenRange> ranges(const std::string& field);
  std::vector<std::string> texts(const std::string& field);
  // Any value, as JSON. Absent: "", and an error.
  std::string json(const std::string& field);
  // Absent: false.
  bool flag(const std::string& field);
  // A list of objects, each to be read in its turn and then given to `absorb`.
  std::vector<Body> objects(const std::string& field);
  // Notes the first error of one of these, with its place.
  void absorb(Body& part);

  // Notes an error unless one was noted before.
  void fail(const std::string& message);
  // The first error, or that a field was not asked for. Errors: kInvalid.
  Result<void> finish();

 private:
  Body(nlohmann::json object, std::string place);
  const nlohmann::json* ask(const std::string& field);
  std::optional<Token> token_in(const nlohmann::json& object, const std::string& field);
  std::optional<ring::TokenRange> range_in(const nlohmann::json& value, const std::string& where);

  nlohmann::json object_;
  std::string place_;  // in the body that it is a part of: "field 'events[0]': "
  std::set<std::string> asked_;
  std::optional<std::string> error_;
};

}  // namespace cleave::admin
