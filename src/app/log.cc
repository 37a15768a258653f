#include "app/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace cleave::app {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> kept = [] {
    auto made = spdlog::stderr_color_mt("cleave");
    made->set_pattern("%H:%M:%S.%e %^%l%$ %v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *kept;
}

}  // namespace

void log_info(const std::string& line) { logger().info("{}", line); }
void log_error(const std::string& line) { logger().error("{}", line); }

}  // namespace cleave::app
