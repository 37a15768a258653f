#include "app/entropy.h"

#include <random>

#include "ring/token_range.h"

namespace cleave::app {

std::uint64_t random_bits() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

std::string random_name() {
  return ring::to_hex(Token{random_bits()}) + ring::to_hex(Token{random_bits()});
}

}  // namespace cleave::app
