#include "net/descriptors.h"

#include <sys/resource.h>

#include <limits>

namespace cleave::net {
namespace {

std::size_t as_number(rlim_t limit) {
  return limit == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max() : limit;
}

}  // namespace

std::size_t descriptors_max() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? as_number(limit.rlim_cur)
                                                 : as_number(RLIM_INFINITY);
}

std::size_t raise_descriptors_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  return descriptors_max();
}

}  // namespace cleave::net
