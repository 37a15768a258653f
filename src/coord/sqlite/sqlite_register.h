// SqliteRegister: the register in a SQLite file, for routers of one machine (the embedded
// coordinator). Several processes and several registers may share the file.
//
//   loop --- queue ---> thread: SQLite          a commit waits for the disk (milliseconds), so it
//    ^                    |                     must not happen on the loop
//    +------ post --------+
//
// Durable: WAL with synchronous=FULL, a compare-and-set that was answered survives a power cut.
// Other connections' changes are seen by looking every 250 ms.
//
// Lease times are wall-clock milliseconds, for processes have no other clock in common; a jump of
// the clock can make a living session look dead or the reverse, which is why leases are only hints.
//
// Errors name the file and what to do. kTimeout of compare_and_set is an I/O error in the commit.
//
// Threads: as in coord/register.h; each register has one thread of its own.
#pragma once

#include <memory>
#include <string>

#include "coord/register.h"
#include "net/loop.h"

namespace cleave::coord {

// Where the file is, and its bounds.
struct SqliteOptions {
  std::string path = {};  // created if it does not exist; its directory must exist
  std::string pool = {};
  milliseconds busy_max{1'500};  // waiting for another process's lock; then kUnavailable
  milliseconds poll_interval{250};
  std::size_t bytes_max = std::size_t{256} << 20U;  // of the file; more: kUnavailable
  std::size_t queue_max = 1'024;                    // open calls; more: kUnavailable
};

// Opens the file within the call (start-up). Errors: kUnavailable (cannot be opened or written,
// locked, disk full), kInvalid (not a cleave database, or a newer one).
Result<std::unique_ptr<Register>> open_sqlite_register(net::Loop& loop, SqliteOptions options);

}  // namespace cleave::coord
