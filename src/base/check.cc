#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cleave {

void check_failed(const char* text, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n", file, line, text);
  std::abort();
}

}  // namespace cleave
