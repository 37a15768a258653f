// Parts: how one register value of any size lies in a store whose values and requests are small
// (etcd: 1.5 MiB a request; ZooKeeper: 1 MiB a znode). Why so: docs/adr/0006-document-in-parts.md.
//
//   document                  the head: "cleave-register 1 <epoch> <bytes> <hash>\n", then the text
//                             itself if it fits
//   parts/<epoch>-<hash>-<i>  else its parts, written before the head names them
//
// A write first puts its parts, then compares and sets the head alone: that one step is the whole
// change. A part's name has the epoch that it is meant for and the hash of the whole text, so
//   - no head but that of its epoch can ever name it: once the head is at N, every part of an epoch
//     below N is garbage, and whoever wrote N removes it (also what lost races and crashes left);
//   - two writers that race for one epoch write different names, or the same bytes;
//   - putting a part twice changes nothing.
// A reader that finds a part missing has read an old head: it begins again.
//
// Pure; threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace cleave::coord {

// Half of the smaller limit of the stores, so that keys and framing have room.
inline constexpr std::size_t kPartBytes = std::size_t{512} << 10U;
// A head that asks for more is not believed. Bytes of the whole text.
inline constexpr std::size_t kTextBytesMax = std::size_t{256} << 20U;

// What a head says.
struct Head {
  Epoch epoch;
  std::size_t bytes = 0;  // of the whole text
  std::uint64_t hash = 0;
  std::size_t parts = 0;    // 0: the text is here
  std::string inline_text;  // empty if parts > 0
};

// One value to be written before the head.
struct Part {
  std::string name;  // without prefix: "00000000000000000007-00c0ffee00c0ffee-0003"
  std::string bytes;
};

// What is to be written: the parts (none for a small text), then the head.
struct Split {
  std::string head;
  std::vector<Part> parts;
};

// Cost: one copy and one hash of the text.
Split split(Epoch epoch, std::string_view text);

// Errors: kInvalid (not written by cleave, a newer format, damaged).
Result<Head> parse_head(std::string_view bytes);

// The names of its parts, in order; they sort in this order too.
std::vector<std::string> part_names(const Head& head);

// Every name of a part of an epoch before `epoch` sorts before this, and no other does.
std::string oldest_part_name(Epoch epoch);

// The text. `parts` in the order of their names; ignored for an inline text. Errors: kInvalid
// (number, length or hash do not agree).
Result<std::string> join(const Head& head, const std::vector<std::string>& parts);

}  // namespace cleave::coord
