// The frame of the command line: subcommands, the options they share, and how they answer.
//
// Every command has --help with an example and --json. With --json the last line of standard output
// is one object, also for an error; everything else goes to standard error.
//
// Threads: the main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "app/admin_client.h"
#include "app/exit.h"
#include "base/result.h"

namespace cleave::app {

// What a command is called and what it tells about itself.
struct CommandText {
  std::string name;
  std::string description;
  std::string example;  // the whole line
};

class Cli {
 public:
  Cli();

  // Parses and runs one command; the program's exit code.
  int run(int argc, char** argv);

  CLI::App& root() { return app_; }
  // A command; `work` runs after parsing and gives the exit code.
  CLI::App& add(CLI::App& parent, const CommandText& text, std::function<int()> work);
  // The same, with --admin and --token: it talks to a running router.
  CLI::App& add_remote(CLI::App& parent, const CommandText& text, std::function<int()> work);
  // A word that only has commands below it.
  CLI::App& add_group(const std::string& name, const std::string& description);

  bool json() const { return json_; }
  AdminClient client() const;

  // Prints what the router said: as JSON, or by `print`. Gives the exit code.
  int show(const AdminClient::Answer& answer, const std::function<void(const Json&)>& print) const;
  // Prints an error. Gives `code`.
  int fail(Exit code, const Error& error) const;
  // Prints the object that ends the output with --json.
  static void print_json(const Json& json);

 private:
  CLI::App app_;
  std::function<int()> work_;
  std::string admin_ = "127.0.0.1:7380";
  std::string token_;
  bool json_ = false;
};

}  // namespace cleave::app
