// A progress line on standard error, redrawn in place; nothing where that is no terminal.
#pragma once

#include <cstdint>
#include <string>

namespace cleave::app {

class Progress {
 public:
  Progress();
  // Ends the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // "filling ████▌    45 %"
  void show(const std::string& what, std::uint64_t done, std::uint64_t of);
  // A line of text instead of a bar.
  void show(const std::string& line);

 private:
  bool terminal_;
  bool drawn_ = false;
};

}  // namespace cleave::app
