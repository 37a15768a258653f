#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "app/commands/bench_probe.h"
#include "app/commands/commands.h"
#include "app/entropy.h"
#include "app/files.h"
#include "app/signals.h"
#include "app/text/load_json.h"
#include "app/text/progress.h"
#include "app/text/table.h"
#include "loadgen/generator.h"
#include "net/asio_loop.h"

namespace cleave::app {
namespace {

struct BenchOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6380;
  std::uint32_t seconds = 10;
  std::uint32_t clients = 50;
  std::uint32_t pipeline = 1;
  std::uint32_t keys = 100'000;
  double zipf = 0;
  double read_share = 0.5;
  std::uint32_t value_bytes = 32;
  std::uint64_t rate = 0;
  std::uint64_t seed = 0;
  std::uint32_t shift_seconds = 0;
  std::string prefix = "key:";
  std::string password_file;
  bool verify = false;
  bool no_fill = false;
};

// Kinds of keys besides registers, when every answer is judged: thousandths of the keys.
constexpr std::uint32_t kCounters = 100;
constexpr std::uint32_t kErasable = 100;
constexpr std::uint32_t kExpiring = 50;

std::uint32_t thousandths(double share) { return static_cast<std::uint32_t>(share * 1'000 + 0.5); }

// CLEAVE_PASSWORD, or the first line of a file: on the command line every user of the machine would
// see it.
Result<std::string> read_password(const std::string& file) {
  if (file.empty()) {
    const char* const given = std::getenv("CLEAVE_PASSWORD");
    return given == nullptr ? std::string() : std::string(given);
  }
  Result<std::string> text = read_file(file);
  if (!text) return text;
  text->erase(std::min(text->find_first_of("\r\n"), text->size()));
  if (text->empty()) return fail(Code::kInvalid, file + ": its first line is empty");
  return text;
}

loadgen::Generator::Options generator_options(const BenchOptions& options, std::string password) {
  loadgen::Generator::Options made;
  made.password = std::move(password);
  made.addresses = {{.host = options.host, .port = options.port}};
  made.clients = options.clients;
  made.pipeline = options.pipeline;
  made.keys.count = options.keys;
  made.keys.zipf_thousandths = thousandths(options.zipf);
  made.keys.prefix = options.prefix;
  made.shift_period = milliseconds{options.shift_seconds * 1'000};
  made.read_share = thousandths(options.read_share);
  made.value_bytes = options.value_bytes;
  made.duration = milliseconds{options.seconds * 1'000};
  made.requests_per_second = options.rate;
  made.fill = !options.no_fill;
  made.verify = options.verify;
  made.seed = options.seed == 0 ? random_bits() : options.seed;
  if (options.verify) {
    made.counter_share = kCounters;
    made.erasable_share = kErasable;
    made.expiring_share = kExpiring;
  }
  return made;
}

// Looks for signals and draws the progress, some times a second.
void watch(net::Loop& loop, loadgen::Generator& generator, Progress& progress,
           milliseconds duration) {
  if (stop_wanted(milliseconds{0})) generator.stop();
  const loadgen::Generator::Progress now = generator.progress();
  if (generator.phase() == loadgen::Phase::kFilling) progress.show("filling", now.done, now.of);
  if (generator.phase() == loadgen::Phase::kSweeping) progress.show("checking", now.done, now.of);
  if (generator.phase() == loadgen::Phase::kRunning) {
    const loadgen::Report report = generator.report();
    progress.show("running " + grouped(report.operations) + " operations",
                  static_cast<std::uint64_t>(report.elapsed.count()),
                  static_cast<std::uint64_t>(nanoseconds{duration}.count()));
  }
  loop.after(milliseconds{200}, [&, duration] { watch(loop, generator, progress, duration); });
}

int cannot_begin(const Cli& cli, const BenchOptions& options, const std::string& why,
                 bool password_given) {
  std::string text =
      "nothing could be done at " + options.host + ":" + std::to_string(options.port) + ": " + why;
  if (why.contains("NOAUTH") && !password_given)
    text += "; give the password by --password-file or in CLEAVE_PASSWORD";
  return cli.fail(kExitUnreachable, {Code::kUnavailable, text});
}

int bench(const Cli& cli, const BenchOptions& options) {
  const Result<std::string> password = read_password(options.password_file);
  if (!password) return cli.fail(kExitUsage, password.error());
  hold_stop_signals();
  const std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  const net::Address address{.host = options.host, .port = options.port};
  if (const auto began = probe_for_load(*loop, address, *password); !began)
    return cannot_begin(cli, options, began.error().message, !password->empty());
  loadgen::Report report;
  {
    loadgen::Generator generator(*loop, generator_options(options, *password));
    Progress progress;
    generator.start([&](const loadgen::Report& finished) {
      report = finished;
      loop->stop();
    });
    watch(*loop, generator, progress, seconds{options.seconds});
    loop->run();
  }
  if (report.operations == 0 && report.filled == 0) {
    const std::string why =
        report.errors_by_text.empty() ? "no answer" : report.errors_by_text.begin()->first;
    return cannot_begin(cli, options, why, !password->empty());
  }
  if (cli.json()) {
    Cli::print_json(to_json(report));
  } else {
    std::cout << to_text(report, options.verify ? Verified::kYes : Verified::kNo);
  }
  return report.clean() ? kExitOk : kExitFailed;
}

}  // namespace

void add_bench(Cli& cli) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App& command = cli.add(
      cli.root(),
      {.name = "bench",
       .description = "put load on a router, and check every acknowledged write",
       .example = "cleave bench --seconds 10 --clients 50 --zipf 1.1 --read-share 0.8 --verify"},
      [&cli, options] { return bench(cli, *options); });
  command.add_option("--host", options->host)->capture_default_str();
  command.add_option("--port", options->port)->capture_default_str();
  command.add_option("--seconds", options->seconds, "of the measured phase")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  command.add_option("--clients", options->clients, "connections")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--pipeline", options->pipeline, "requests under way of each client")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command.add_option("--keys", options->keys, "how many different keys")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command.add_option("--zipf", options->zipf, "exponent of the keys' popularity; 0 = uniform")
      ->check(CLI::Range(0.0, 5.0))
      ->capture_default_str();
  command.add_option("--shift", options->shift_seconds, "every so many seconds other keys are hot")
      ->capture_default_str();
  command.add_option("--read-share", options->read_share, "of the requests, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--value-bytes", options->value_bytes)
      ->check(CLI::Range(1, 1 << 26))
      ->capture_default_str();
  command.add_option("--rate", options->rate, "requests a second; 0 = as fast as answered")
      ->capture_default_str();
  command.add_option("--seed", options->seed, "0 = another one each time")->capture_default_str();
  command.add_option("--prefix", options->prefix, "of the keys' names")->capture_default_str();
  command
      .add_option("--password-file", options->password_file,
                  "its first line is the router's password; default: CLEAVE_PASSWORD")
      ->type_name("FILE");
  command.add_flag("--verify", options->verify, "judge every answer, and read all keys at the end");
  command.add_flag("--no-fill", options->no_fill, "do not write every key once before");
}

}  // namespace cleave::app
