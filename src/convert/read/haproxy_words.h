// What HAProxy's words do to keys, as tables. For haproxy.cc.
#pragma once

#include <string_view>

namespace cleave::convert {

// What a word does to the place of a key.
enum class HaproxyEffect {
  kNone,     // none
  kMoves,    // keys go, or may go, elsewhere
  kUnknown,  // not known here
};

// A word, why it moves keys, and how many words follow that belong to it.
struct HaproxyWord {
  HaproxyEffect effect = HaproxyEffect::kUnknown;
  std::string_view why = {};
  std::size_t arguments = 0;
};

// The first word of a line in a backend; for "option" the second is asked too.
HaproxyWord haproxy_directive(std::string_view word);
HaproxyWord haproxy_option(std::string_view word);

// A word behind "server NAME ADDRESS" or "default-server", other than weight, id, backup, disabled.
HaproxyWord haproxy_parameter(std::string_view word);

}  // namespace cleave::convert
