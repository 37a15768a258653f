// Who a server is that is in no pool yet.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "backend/pipe.h"
#include "base/limits.h"
#include "base/result.h"
#include "net/loop.h"

namespace cleave::app {

// Looks under way. To be destroyed before its loop is.
class ServerLooks {
 public:
  ServerLooks(net::Loop& loop, backend::Credentials credentials, SessionId session);
  ~ServerLooks();
  ServerLooks(const ServerLooks&) = delete;
  ServerLooks& operator=(const ServerLooks&) = delete;

  // Its run id, within a second. Errors: why it does not serve, in its own words.
  void run_id(const net::Address& address, std::function<void(Result<std::string>)> done);

 private:
  struct Look;

  void end(const std::weak_ptr<Look>& look, Result<std::string> result);

  net::Loop& loop_;
  backend::Credentials credentials_;
  SessionId session_;
  std::list<std::shared_ptr<Look>> looks_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::app
