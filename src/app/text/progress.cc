#include "app/text/progress.h"

#include <unistd.h>

#include <iostream>

#include "app/text/table.h"

namespace cleave::app {
namespace {

constexpr std::uint32_t kBarWidth = 30;

}  // namespace

Progress::Progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::cerr << "\n";
}

void Progress::show(const std::string& what, std::uint64_t done, std::uint64_t of) {
  if (of == 0) return;
  show(what + " " + bar(done, of, kBarWidth) + " " + percent(done * 1'000'000 / of));
}

void Progress::show(const std::string& line) {
  if (!terminal_) return;
  std::cerr << "\r\x1b[K" << line << std::flush;
  drawn_ = true;
}

}  // namespace cleave::app
