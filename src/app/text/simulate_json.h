// A simulated run as the JSON that `cleave simulate` prints and writes.
#pragma once

#include "app/admin_client.h"
#include "rehearse/engine.h"

namespace cleave::app {

// Fields of the contract: peak_over_mean_start peak_over_mean lower_bound load_moved_over_bound
// keys_moved keys_moved_bound moves cuts merges oscillations ranges seconds_to_detect
// seconds_to_converge (the last two null when there was nothing to reach, or it was not reached).
// Where memory is limited also bytes_peak_over_mean_start bytes_peak_over_mean bytes_lower_bound
// bytes_moved bytes_moved_bound bytes_seconds_to_converge.
Json summary_json(const rehearse::Summary& summary);

// Everything in it; tokens as 16 hexadecimal digits.
Json record_json(const rehearse::Record& record);

}  // namespace cleave::app
