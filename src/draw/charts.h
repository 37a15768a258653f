// The three charts of a simulated run.
//
// Each draws a whole picture of kWidth x kHeight. Requires: a moment and a node in the record.
// Threads: values.
#pragma once

#include <string>

#include "draw/canvas.h"
#include "rehearse/record.h"

namespace cleave::draw {

// "zipf:0.99, policy cleave, seed 1: 16 nodes, 40,000 keys".
std::string run_title(const rehearse::Record& record);

// Use of each node's capacity over time, against the fair use of all and 1.5 times that.
void draw_loads(Canvas& canvas, const rehearse::Record& record);

// Load over the token space and time, with the cuts that were there and the moves that were made.
void draw_heat(Canvas& canvas, const rehearse::Record& record);

// Highest load over fair load against the least that any placement could reach, and the moves.
void draw_peak(Canvas& canvas, const rehearse::Record& record);

}  // namespace cleave::draw
