// ServerCommands: the servers' command table with our own commands, for routing and for clients
// that ask for it.
//
// Threads: immutable once learnt; shared by all workers.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "route/command_table.h"

namespace cleave::proxy {

class ServerCommands {
 public:
  // From a server's reply to COMMAND and its version. Errors: kInvalid.
  static Result<std::shared_ptr<const ServerCommands>> learn(std::string raw, std::string version);

  const route::CommandTable& table() const { return table_; }
  const std::string& version() const { return version_; }

  // The reply to COMMAND, COMMAND COUNT, LIST, INFO, DOCS or GETKEYS as the servers would give it
  // (DOCS: of our own commands only; of others clients take it as "no documentation"). Requires:
  // args not empty.
  void answer(std::span<const std::string_view> args, std::string& out) const;

 private:
  ServerCommands(std::string raw, std::string version, route::CommandTable table)
      : raw_(std::move(raw)), version_(std::move(version)), table_(std::move(table)) {}

  void index();
  void answer_info(std::span<const std::string_view> names, std::string& out) const;
  static void answer_docs(std::span<const std::string_view> names, std::string& out);
  void answer_keys(std::span<const std::string_view> command, std::string& out) const;

  std::string raw_;  // the whole reply, as received
  std::string version_;
  route::CommandTable table_;
  std::map<std::string, std::string_view, std::less<>> entries_;  // by lower-case name; into raw_
};

}  // namespace cleave::proxy
