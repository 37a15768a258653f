// Commands: several commands for one pipe, and `run`, which collects their replies.
//
// For the control side (driver, prober's facts, adopt), never for the data path: every reply is
// parsed into a tree.
//
// Threads: the pipe's loop.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/pipe.h"
#include "base/result.h"
#include "wire/resp.h"

namespace cleave::backend {

class Commands {
 public:
  void add(std::initializer_list<std::string_view> args) {
    add(std::span<const std::string_view>(args.begin(), args.size()));
  }
  void add(std::span<const std::string_view> args) {
    wire::append_command(bytes_, args);
    ends_.push_back(bytes_.size());
  }

  bool empty() const { return ends_.empty(); }
  std::size_t size() const { return ends_.size(); }
  std::size_t bytes() const { return bytes_.size(); }
  // The bytes of command `index`. Requires: index < size().
  std::string_view command(std::size_t index) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

// One reply for each command, in order.
using Replies = std::vector<wire::Reply>;
using RepliesDone = std::function<void(Result<Replies>)>;

// Sends all of them in one go; `done` runs once, when all have a reply or one of them failed. An
// error reply is a reply. Whether lost commands are finished by protocol rule 6 is the pipe's
// `unfinished()`. `alive` is watched: when its owner is gone, `done` is not called.
// Errors: kUnavailable, kTimeout.
void run(Pipe& pipe, const Commands& commands, std::weak_ptr<void> alive, RepliesDone done);

// The decimal number at the start of `text`; 0 when there is none.
std::int64_t to_number(std::string_view text);
// The text of "name:value" in an INFO reply; empty when it is not there.
std::string_view info_field(std::string_view info, std::string_view name);
// The same as a number; 0 when it is not there or is none.
std::uint64_t info_number(std::string_view info, std::string_view name);

}  // namespace cleave::backend
