#include "app/text/load_json.h"

#include <chrono>

#include "app/text/table.h"

namespace cleave::app {

double to_ms(std::uint64_t microseconds) { return static_cast<double>(microseconds) / 1'000.0; }

Json to_json(const loadgen::Report& report) {
  const loadgen::Findings& findings = report.findings;
  return {{"ops", report.operations},
          {"ops_per_s", report.operations_per_second},
          {"p50_ms", to_ms(report.p50_us)},
          {"p99_ms", to_ms(report.p99_us)},
          {"max_ms", to_ms(report.max_us)},
          {"elapsed_s", std::chrono::duration<double>(report.elapsed).count()},
          {"errors", report.errors},
          {"errors_by_text", report.errors_by_text},
          {"connections_lost", report.connections_lost},
          {"reads", findings.reads},
          {"reads_wrong", findings.reads_wrong},
          {"writes_acked", findings.writes_acked},
          {"writes_lost", findings.writes_lost},
          {"writes_unknown", findings.writes_unknown},
          {"late_writes", findings.late_writes},
          {"filled", report.filled},
          {"swept", report.swept},
          {"unchecked", report.unchecked},
          {"examples", findings.examples}};
}

std::string to_text(const loadgen::Report& report, Verified verified) {
  const loadgen::Findings& findings = report.findings;
  Table table({"", ""});
  const auto row = [&](const char* name, const std::string& value) { table.add({name, value}); };
  const auto ms = [](std::uint64_t microseconds) {
    return grouped(microseconds / 1'000) + "." +
           std::to_string(1'000 + microseconds % 1'000).substr(1) + " ms";
  };
  row("operations", grouped(report.operations));
  row("per second", grouped(report.operations_per_second));
  row("p50", ms(report.p50_us));
  row("p99", ms(report.p99_us));
  row("slowest", ms(report.max_us));
  row("errors", grouped(report.errors));
  if (verified == Verified::kYes) {
    row("writes acknowledged", grouped(findings.writes_acked));
    row("writes lost", grouped(findings.writes_lost));
    row("reads wrong", grouped(findings.reads_wrong));
    row("keys not checked", grouped(report.unchecked));
  }
  std::string text = table.text();
  text.erase(0, text.find('\n') + 1);  // the empty head
  for (const auto& [error, count] : report.errors_by_text) {
    text += grouped(count) + " x " + error + "\n";
  }
  for (const std::string& example : findings.examples) text += "wrong: " + example + "\n";
  return text;
}

}  // namespace cleave::app
