#include "admin/body.h"

#include <utility>

#include "ring/document/document.h"

namespace cleave::admin {

Body::Body(std::string_view text) : object_(nlohmann::json::object()) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (!parsed.is_object()) {
    fail("the body must be one JSON object");
    return;
  }
  object_ = std::move(parsed);
}

Body::Body(nlohmann::json object, std::string place)
    : object_(std::move(object)), place_(std::move(place)) {}

bool Body::has(const std::string& field) const { return object_.contains(field); }

std::string Body::text(const std::string& field, Need need) {
  const nlohmann::json* value = ask(field);
  if (value == nullptr) {
    if (need == Need::kRequired) fail("field '" + field + "' is missing");
    return "";
  }
  if (!value->is_string()) {
    fail("field '" + field + "': want a text");
    return "";
  }
  return value->get<std::string>();
}

std::optional<std::uint64_t> Body::number(const std::string& field, std::uint64_t min,
                                          std::uint64_t max) {
  const nlohmann::json* value = ask(field);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) {
    const auto number = value->get<std::uint64_t>();
    if (number >= min && number <= max) return number;
  }
  fail("field '" + field + "': want a whole number from " + std::to_string(min) + " to " +
       std::to_string(max));
  return std::nullopt;
}

std::optional<UnixMillis> Body::time(const std::string& field) {
  const std::optional<std::uint64_t> ms = number(field, 0, ring::kNumberMax);
  return ms ? std::optional(UnixMillis{static_cast<std::int64_t>(*ms)}) : std::nullopt;
}

std::optional<Token> Body::token(const std::string& field) {
  if (ask(field) == nullptr) return std::nullopt;
  return token_in(object_, field);
}

std::optional<ring::TokenRange> Body::range(const std::string& field) {
  const nlohmann::json* value = ask(field);
  if (value == nullptr) return std::nullopt;
  return range_in(*value, "field '" + field + "'");
}

std::vector<ring::TokenRange> Body::ranges(const std::string& field) {
  std::vector<ring::TokenRange> ranges;
  const nlohmann::json* value = ask(field);
  if (value == nullptr) return ranges;
  if (!value->is_array() || value->empty()) {
    fail("field '" + field + "': want a list of {\"first\": .., \"last\": ..}");
    return ranges;
  }
  for (const nlohmann::json& element : *value) {
    const std::string where = "field '" + field + "[" + std::to_string(ranges.size()) + "]'";
    const std::optional<ring::TokenRange> range = range_in(element, where);
    if (!range) return {};
    ranges.push_back(*range);
  }
  return ranges;
}

std::vector<std::string> Body::texts(const std::string& field) {
  std::vector<std::string> texts;
  const nlohmann::json* value = ask(field);
  if (value == nullptr) return texts;
  for (const nlohmann::json& element : *value) {
    if (!value->is_array() || !element.is_string()) {
      fail("field '" + field + "': want a list of texts");
      return {};
    }
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::string Body::json(const std::string& field) {
  const nlohmann::json* value = ask(field);
  if (value != nullptr) return value->dump();
  fail("field '" + field + "' is missing");
  return "";
}

bool Body::flag(const std::string& field) {
  const nlohmann::json* value = ask(field);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  fail("field '" + field + "': want true or false");
  return false;
}

std::vector<Body> Body::objects(const std::string& field) {
  std::vector<Body> parts;
  const nlohmann::json* value = ask(field);
  if (value == nullptr) return parts;
  if (!value->is_array()) fail("field '" + field + "': want a list of objects");
  for (const nlohmann::json& element : *value) {
    const std::string place = "field '" + field + "[" + std::to_string(parts.size()) + "]': ";
    if (!element.is_object()) {
      fail(place + "want an object");
      return {};
    }
    parts.push_back(Body(element, place));
  }
  return parts;
}

void Body::absorb(Body& part) {
  if (const Result<void> read = part.finish(); !read) fail(part.place_ + read.error().message);
}

void Body::fail(const std::string& message) {
  if (!error_) error_ = message;
}

Result<void> Body::finish() {
  for (const auto& item : object_.items()) {
    if (!asked_.contains(item.key())) fail("field '" + item.key() + "' is unknown");
  }
  if (error_) return cleave::fail(Code::kInvalid, *error_);
  return {};
}

const nlohmann::json* Body::ask(const std::string& field) {
  asked_.insert(field);
  const auto found = object_.find(field);
  return found == object_.end() ? nullptr : &*found;
}

std::optional<Token> Body::token_in(const nlohmann::json& object, const std::string& field) {
  const auto found = object.find(field);
  if (found == object.end() || !found->is_string()) {
    fail("field '" + field + "': want a token as a text of hexadecimal digits");
    return std::nullopt;
  }
  const Result<Token> token = ring::parse_token(found->get<std::string>());
  if (!token) {
    fail("field '" + field + "': " + token.error().message);
    return std::nullopt;
  }
  return *token;
}

std::optional<ring::TokenRange> Body::range_in(const nlohmann::json& value,
                                               const std::string& where) {
  if (!value.is_object() || value.size() != 2) {
    fail(where + ": want {\"first\": token, \"last\": token}");
    return std::nullopt;
  }
  const std::optional<Token> first = token_in(value, "first");
  const std::optional<Token> last = token_in(value, "last");
  if (!first || !last) return std::nullopt;
  if (*last < *first) {
    fail(where + ": 'first' is after 'last'; a range that wraps is given as two");
    return std::nullopt;
  }
  return ring::TokenRange{.first = *first, .last = *last};
}

}  // namespace cleave::admin
