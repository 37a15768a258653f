// How many descriptors (sockets, files) the process may have open at once.
//
// Threads: any.
#pragma once

#include <cstddef>

namespace cleave::net {

// The limit in force (RLIMIT_NOFILE).
std::size_t descriptors_max();

// Raises it to what the system allows the process; the limit in force then.
std::size_t raise_descriptors_max();

}  // namespace cleave::net
