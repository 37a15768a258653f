// Result<T>: a value or the reason there is none.
//
// Expected failures (a timeout, bad input, a lost race) are Results. Broken invariants are CHECKs
// (base/check.h). Exceptions are not used; a library's are caught at the call and become an Error.
#pragma once

#include <cstdint>
#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace cleave {

// What a caller may branch on. Add a value only when some caller really does something else for it.
enum class Code : std::uint8_t {
  kInvalid,      // the input can never be right; asking again does not help
  kNotFound,     // the thing named does not exist
  kConflict,     // lost a race or broke a precondition; read again, then decide
  kTimeout,      // no answer in time; the outcome may be unknown
  kUnavailable,  // the other side is away; later may be better
  kExhausted,    // a limit of base/limits.h is reached
};

// `code` is for programs, `message` for a person: what was tried, on what, with which values.
struct [[nodiscard]] Error {
  Code code = Code::kInvalid;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;

// Short form of `std::unexpected(Error{code, message})`.
[[nodiscard]] inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

// The same error with `where` put before its message: context is added once, where it is known.
[[nodiscard]] inline std::unexpected<Error> fail(std::string_view where, const Error& error) {
  return std::unexpected(Error{error.code, std::string(where) + ": " + error.message});
}

// Lower-case name of a code, for logs and JSON.
constexpr std::string_view to_string(Code code) {
  switch (code) {
    case Code::kInvalid: return "invalid";
    case Code::kNotFound: return "not-found";
    case Code::kConflict: return "conflict";
    case Code::kTimeout: return "timeout";
    case Code::kUnavailable: return "unavailable";
    case Code::kExhausted: return "exhausted";
  }
  return "unknown";
}

// The inverse. Errors: kInvalid, names the text.
inline Result<Code> parse_code(std::string_view name) {
  for (const Code code : {Code::kInvalid, Code::kNotFound, Code::kConflict, Code::kTimeout,
                          Code::kUnavailable, Code::kExhausted}) {
    if (to_string(code) == name) return code;
  }
  return fail(Code::kInvalid, "no error code is named '" + std::string(name) + "'");
}

}  // namespace cleave
