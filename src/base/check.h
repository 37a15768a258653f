// CHECK: a broken invariant ends the process, in release builds too.
//
// A router that goes on after its own bookkeeping is wrong can send a write to the wrong server;
// a router that dies is restarted and loses nothing (docs/ARCHITECTURE.md, "Failure").
#pragma once

namespace cleave {

// Prints `file:line: CHECK(text) failed` to standard error and aborts. Async-signal-safe.
[[noreturn]] void check_failed(const char* text, const char* file, int line);

}  // namespace cleave

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it needs the text and place of its caller.
#define CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::cleave::check_failed(#condition, __FILE__, __LINE__))
