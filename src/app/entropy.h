// The program's only source of real randomness: names that must never return, and seeds.
#pragma once

#include <cstdint>
#include <string>

namespace cleave::app {

// 64 bits from the operating system.
std::uint64_t random_bits();

// 32 hexadecimal digits: the name of a session, the mark of a pool.
std::string random_name();

}  // namespace cleave::app
