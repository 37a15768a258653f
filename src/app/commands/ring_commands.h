// The commands below `cleave ring`, one function each, and what they share.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/cli.h"
#include "app/config/ring_arguments.h"
#include "base/wide.h"
#include "draw/canvas.h"

namespace cleave::app {

void add_ring_show(Cli& cli, CLI::App& group);
void add_ring_diff(Cli& cli, CLI::App& group);
void add_ring_spread(Cli& cli, CLI::App& group);
void add_ring_save(Cli& cli, CLI::App& group);
void add_ring_restore(Cli& cli, CLI::App& group);

// --scheme, --node, --option, or --config with --from and --pool.
void add_ring_arguments(CLI::App& command, RingArguments& arguments);

// --keys, --sample, --seed.
void add_key_arguments(CLI::App& command, KeyArguments& arguments);

// Where a picture goes: one, both or none.
struct PictureFiles {
  std::string svg = {};
  std::string png = {};
};

// --svg, --png.
void add_picture_files(CLI::App& command, PictureFiles& files);

// Errors: those of draw::write_picture.
Result<void> write_pictures(const PictureFiles& files, std::string_view title,
                            const std::function<void(draw::Canvas&)>& draw);

// `part` of `whole`, 0 ... 1. Requires: whole > 0.
double share_of(Wide part, Wide whole);

}  // namespace cleave::app
