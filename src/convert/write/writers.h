// The writers, one a peer. For export.cc.
//
// Pure. Require: a pool of one of the peer's schemes, of at least one node, each with a member.
// Errors: kInvalid, names the node.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "convert/pool/pool.h"

namespace cleave::convert {

Result<std::string> write_twemproxy(const Pool& pool);
Result<std::string> write_nginx(const Pool& pool);
Result<std::string> write_haproxy(const Pool& pool);
Result<std::string> write_envoy(const Pool& pool);

// The value of the scheme's option, or that.
std::string option_or(const Pool& pool, std::string_view option, std::string_view otherwise);

// Where the peer listens: the pool's listener, or cleave's usual one.
std::string listener_or_usual(const Pool& pool);

// "# Written by `cleave export PEER` ..." as lines of comments.
std::string export_head(const Pool& pool, Peer peer);

}  // namespace cleave::convert
