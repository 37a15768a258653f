// A real twemproxy (Debian's package `nutcracker`) as a child process, for `demo adopt`.
//
// Threads: the main thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "net/loop.h"
#include "supervise/process.h"

namespace cleave::app {

class Twemproxy {
 public:
  // Starts it with the configuration, whose one pool listens at `address`, and waits until it
  // answers. Its files are in `directory`. Errors: kNotFound when it is not installed; kUnavailable
  // when it ends, with its log; kTimeout.
  static Result<std::unique_ptr<Twemproxy>> start(const std::string& config,
                                                  const net::Address& address,
                                                  const std::string& directory);
  // Ends it.
  ~Twemproxy();
  Twemproxy(const Twemproxy&) = delete;
  Twemproxy& operator=(const Twemproxy&) = delete;

  const net::Address& address() const { return address_; }

 private:
  Twemproxy(const net::Address& address, const supervise::Process& process)
      : address_(address), process_(process) {}

  Result<void> wait_until_it_answers(const std::string& log) const;

  net::Address address_;
  supervise::Process process_;
};

}  // namespace cleave::app
