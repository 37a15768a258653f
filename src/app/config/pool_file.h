// The pool of a configuration file: of cleave itself, or of another proxy (docs/formats/peers.md).
//
// Threads: the main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "convert/read/import.h"

namespace cleave::app {

// A file on the command line, and which pool of it is meant.
struct PoolFile {
  std::string path;
  std::string from;  // whose file it is; empty: told from the text
  std::string pool;  // empty: the only one
};

// --from and --pool.
void add_pool_options(CLI::App& command, PoolFile& file);

// All pools of a peer's file that are meant. Errors: kNotFound when it cannot be read, or has no
// such pool; kInvalid with every reason.
Result<convert::Imported> import_file(const PoolFile& file);

// The one pool that is meant, of a peer's file or of cleave's. Errors besides: kInvalid when there
// are several.
Result<convert::Pool> read_pool_file(const PoolFile& file);

// Whether a file with this pool in it has a password in it.
bool has_secrets(const convert::Pool& pool);

}  // namespace cleave::app
