// The live demonstrations, each on its own redis-servers in a temporary directory.
//
// Threads: the main thread. Errors: whatever keeps one from running at all.
#pragma once

#include "app/demo/demo_run.h"
#include "base/result.h"

namespace cleave::app {

// A hot set (Zipf 1.1) that lies inside one node's ranges is found, cut and moved.
Result<DemoResult> demo_hot(const DemoOptions& options);

// Under even load one more node joins: it is filled to its share, and robs nobody below theirs.
Result<DemoResult> demo_scale_out(const DemoOptions& options);

// One tenant's large values fill one node; bytes are moved until all are filled alike.
Result<DemoResult> demo_memory(const DemoOptions& options);

}  // namespace cleave::app
