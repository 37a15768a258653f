// SIGINT and SIGTERM as something to wait for. SIGHUP ends nothing: it is told in the log.
#pragma once

#include "base/clock.h"

namespace cleave::app {

// From now on these signals are kept for `stop_wanted`, in this thread and those it starts; SIGPIPE
// is ignored. To be called before any thread is started.
void hold_stop_signals();

// Waits at most so long; true when somebody wants the program to stop.
// Requires: hold_stop_signals was called.
bool stop_wanted(milliseconds patience);

}  // namespace cleave::app
