// The commands of the model server that are about the server itself: connections, transactions,
// INFO.
#pragma once

#include <span>
#include <string>

#include "sim/model/server.h"

namespace cleave::sim {

struct AdminCommands {
  using Args = std::span<const std::string>;

  // False: not one of them. Requires: the arity was checked.
  static bool run(ModelServer& server, ModelServer::Client& client, Args args, std::string& reply);

 private:
  struct Context {
    ModelServer& server;
    ModelServer::Client& client;
    Args args;
    std::string& reply;
  };
  using Handler = void (*)(Context& context);
  struct Named {
    std::string_view name;
    Handler handler;
  };
  static const Named kHandlers[];
  static const Named kClientHandlers[];

  static void auth(Context& context);
  static void client(Context& context);
  static void client_getname(Context& context);
  static void client_id(Context& context);
  static void client_kill(Context& context);
  static void client_list(Context& context);
  static void client_setname(Context& context);
  static void client_unblock(Context& context);
  static void command(Context& context);
  static void discard(Context& context);
  static void echo(Context& context);
  static void exec(Context& context);
  static void info(Context& context);
  static void multi(Context& context);
  static void ping(Context& context);
  static void quit(Context& context);
  static void role(Context& context);
  static void select(Context& context);
  static void shutdown(Context& context);
  static void time(Context& context);
  static void wait(Context& context);

  static std::string info_text(ModelServer& server, const std::string& section);
};

}  // namespace cleave::sim
