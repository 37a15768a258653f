// Options that tell, as state of the peer, who owns what: `slots`, `tokens`. For the files of this
// folder.
//
//   lists = part { ";" part }              a=0-511,700;b=512-699,701-1023
//   part  = node "=" [ item { "," item } ]
//
// A node's name ends at the last "=" of its part, so it may hold any byte but ";". A node stands
// once, whether it is among the nodes or not.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ring/schemes/option_reader.h"

namespace cleave::ring {

struct OwnerLists {
  std::string_view option;
  std::string_view form;  // for people: "NODE=FIRST-LAST,...;NODE=..."
};

// Calls `take` for each item, in order, until something is refused. Does nothing where the option
// is not given. Refuses what is malformed. Cost: O(text + parts log parts).
void read_owner_lists(
    OptionReader& options, const OwnerLists& lists,
    const std::function<void(std::string_view item, std::string_view node)>& take);

// What stands before the first `mark`, cut off the text with the mark; all of it without one.
std::string_view cut_before(std::string_view& text, char mark);

// "slot 5 is given to 'a' and to 'b'".
std::string given_twice(std::string_view what, std::string_view first, std::string_view second);

}  // namespace cleave::ring
