#include "app/cli.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "app/version.h"
#include "base/shown.h"

namespace cleave::app {
namespace {

// What people wrote (reasons, names) and servers said is printed only so that it cannot move the
// cursor.
void make_printable(Json& json) {
  if (json.is_string()) json = printable(json.get_ref<const std::string&>());
  if (!json.is_structured()) return;
  for (Json& each : json) make_printable(each);
}

// Messages of ours may have several lines.
std::string printable_lines(const std::string& text) {
  std::string safe;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    safe += (begin == 0 ? "" : "\n") + printable(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  return safe;
}

Exit exit_of(const CallFailure& failure) {
  if (failure.unreachable) return kExitUnreachable;
  switch (failure.error.code) {
    case Code::kUnavailable:
    case Code::kExhausted: return kExitNotNow;
    case Code::kTimeout: return kExitUnknown;
    default: return kExitFailed;
  }
}

}  // namespace

Cli::Cli()
    : app_(
          "cleave keeps Redis servers balanced: it finds hot ranges, cuts them and moves "
          "them live.",
          "cleave") {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", std::string("cleave ") + kVersion);
  app_.footer("Begin with:\n  cleave up --nodes 4");
}

int Cli::run(int argc, char** argv) {
  try {  // CLI11 says everything by exceptions, --help included
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& failure) {
    return app_.exit(failure) == 0 ? kExitOk : kExitUsage;
  }
  return work_ ? work_() : kExitUsage;
}

CLI::App& Cli::add(CLI::App& parent, const CommandText& text, std::function<int()> work) {
  CLI::App* command = parent.add_subcommand(text.name, text.description);
  command->add_flag("--json", json_, "end standard output with one JSON object");
  command->footer("Example:\n  " + text.example);
  command->callback([this, work = std::move(work)] { work_ = work; });
  return *command;
}

CLI::App& Cli::add_remote(CLI::App& parent, const CommandText& text, std::function<int()> work) {
  CLI::App& command = add(parent, text, std::move(work));
  const auto is_address = [](const std::string& value) {
    const Result<net::Address> address = net::parse_address(value);
    return address ? std::string() : address.error().message;
  };
  command.add_option("--admin", admin_, "the router's HTTP interface")
      ->capture_default_str()
      ->check(CLI::Validator(is_address, "HOST:PORT"));
  command.add_option("--token", token_, "its bearer token")->envname("CLEAVE_TOKEN");
  return command;
}

CLI::App& Cli::add_group(const std::string& name, const std::string& description) {
  CLI::App* group = app_.add_subcommand(name, description);
  group->require_subcommand(1);
  return *group;
}

AdminClient Cli::client() const {
  return {net::parse_address(admin_).value_or(net::Address{}), token_};
}

int Cli::show(const AdminClient::Answer& answer,
              const std::function<void(const Json&)>& print) const {
  if (!answer) return fail(exit_of(answer.error()), answer.error().error);
  if (json_) {
    print_json(*answer);
  } else {
    Json safe = *answer;
    make_printable(safe);
    print(safe);
  }
  return kExitOk;
}

int Cli::fail(Exit code, const Error& error) const {
  std::cerr << "cleave: " << printable_lines(error.message) << "\n";
  if (json_) {
    print_json({{"error", {{"code", to_string(error.code)}, {"message", error.message}}}});
  }
  return code;
}

void Cli::print_json(const Json& json) {
  std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace cleave::app
