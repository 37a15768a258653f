// Exit codes of the program; a contract for scripts.
#pragma once

namespace cleave::app {

enum Exit : int {
  kExitOk = 0,
  kExitFailed = 1,       // the work failed, or a check found violations
  kExitUsage = 2,        // bad usage or configuration: trying again does not help
  kExitUnreachable = 3,  // no router answers at the address
  kExitNotNow = 4,       // it cannot be done now; nothing was done, try again later
  kExitUnknown = 5,      // an order may have been carried out or not; `cleave orders` tells
};

}  // namespace cleave::app
