// MD5 of many short texts at once, in the lanes of vector registers.
//
// The 64 steps of one MD5 wait for each other, so one text keeps a processor waiting most of the
// time, however good the code. Sixteen texts side by side take about four times as long as one.
// Source: RFC 1321. Pure; threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ring/schemes/hashes/digest.h"

namespace cleave::ring {

// Texts that are hashed together; fewer cost the same, as long as they are more than a few.
inline constexpr std::size_t kMd5Lanes = 16;

// As `md5` of each. Requires: as many digests as texts; texts may be longer than what fits into a
// lane (55 bytes), which are hashed one by one.
void md5_many(std::span<const std::string_view> texts, std::span<Md5> digests);

}  // namespace cleave::ring
