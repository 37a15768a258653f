// Sorting the points of a circle by what they are: hashes. For the files of this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "ring/schemes/circle.h"

namespace cleave::ring {

// By value; equal values stay in the order in which they were put. Cost: O(points) expected for
// values that are spread like hashes, O(points log points) for any; memory for as many points more.
void sort_points(std::vector<CirclePoint>& points);

}  // namespace cleave::ring
