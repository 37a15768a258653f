// Files that people name on the command line.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "base/result.h"

namespace cleave::app {

// Opened for reading. Errors: kNotFound, with the system's words; also for a folder, which opens
// well and then cannot be read.
Result<std::ifstream> open_file(const std::string& path);

// All of it. Errors: as above.
Result<std::string> read_file(const std::string& path);

// What may become of a file that is there.
enum class Overwrite : std::uint8_t { kNo, kYes };
// With secrets in it only its owner may read it.
enum class Secrets : std::uint8_t { kNone, kSome };

// Errors: kConflict when it is there already and may not be overwritten; kUnavailable.
Result<void> write_file(const std::string& path, const std::string& text, Secrets secrets,
                        Overwrite overwrite);

}  // namespace cleave::app
