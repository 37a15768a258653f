// Import: the configuration of another proxy in cleave's terms (docs/formats/peers.md).
//
// Nothing is ignored silently: what has no counterpart is a remark, what would move a key, or
// could, is a reason against the pool.
//
// Pure. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "convert/pool/pool.h"

namespace cleave::convert {

// What is to be read, and how.
struct ImportOptions {
  std::string file;          // for messages only
  std::optional<Peer> from;  // nullopt: told from the text
  std::string pool;          // only this one; empty: all that are placed by keys
};

// All that was found.
struct Imported {
  Peer from = Peer::kTwemproxy;
  std::vector<Pool> pools;               // at least one, in the order of the file
  std::vector<std::string> passed_over;  // pools that the peer does not place by keys, and why
};

// Whose configuration the text is. Errors: kInvalid, names what can be read.
Result<Peer> recognise(std::string_view text);

// Errors: kInvalid with all reasons, one a line, "FILE:LINE: pool 'NAME': ...", when a pool cannot
// be taken over, when nothing can, or when the text is not what it should be; kNotFound when there
// is no such pool (names those that there are). Cost: that of placing every pool once.
Result<Imported> import_pools(std::string_view text, const ImportOptions& options);

}  // namespace cleave::convert
