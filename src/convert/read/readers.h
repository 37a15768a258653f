// The readers, one a peer; what the peer's words mean stands at the head of each file. For
// import.cc and the tests.
//
// Pure; `file` is only for messages. Errors of a reader: kInvalid, "FILE:LINE: what", when the text
// is not in the peer's form at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "convert/pool/pool.h"

namespace cleave::convert {

// One pool of a file. Errors of `pool`: kInvalid with every reason why it cannot be taken over,
// one a line; kNotFound when the peer does not place it by keys.
struct FoundPool {
  std::string name;
  Result<Pool> pool;
};

using FoundPools = Result<std::vector<FoundPool>>;

FoundPools read_twemproxy(std::string_view text, const std::string& file);
FoundPools read_nginx(std::string_view text, const std::string& file);
FoundPools read_haproxy(std::string_view text, const std::string& file);
FoundPools read_envoy(std::string_view text, const std::string& file);
FoundPools read_codis(std::string_view text, const std::string& file);

}  // namespace cleave::convert
