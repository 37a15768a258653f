// Splits: commands whose keys several nodes own (MGET MSET DEL UNLINK EXISTS TOUCH), a part for
// each node.
//
// Threads: one worker.
#pragma once

#include <string>
#include <vector>

#include "proxy/dispatch/dispatch.h"
#include "proxy/fan_out/gathering.h"
#include "route/route.h"
#include "wire/resp.h"

namespace cleave::proxy {

class Splits {
 public:
  Splits(Dispatch& dispatch, Gatherings& gatherings)
      : dispatch_(dispatch), gatherings_(gatherings) {}

  // Requires: the decision is to split.
  void split(Request& request, const route::Decision& decision, const wire::Request& said);

 private:
  void gather_parts(Gathering& whole, const route::Decision& decision);
  void encode(const wire::Request& said, const route::Decision& decision, Command& part);

  Dispatch& dispatch_;
  Gatherings& gatherings_;
  std::vector<Command*> parts_;  // scratch
  std::string bytes_;            // scratch: one part
};

}  // namespace cleave::proxy
