#include "sim/model/admin_commands.h"

#include <algorithm>

#include "sim/model/command.h"

namespace cleave::sim {

const AdminCommands::Named AdminCommands::kHandlers[] = {
    {"AUTH", auth},         {"CLIENT", client}, {"COMMAND", command}, {"DISCARD", discard},
    {"ECHO", echo},         {"EXEC", exec},     {"INFO", info},       {"MULTI", multi},
    {"PING", ping},         {"QUIT", quit},     {"ROLE", role},       {"SELECT", select},
    {"SHUTDOWN", shutdown}, {"TIME", time},     {"WAIT", wait},
};

const AdminCommands::Named AdminCommands::kClientHandlers[] = {
    {"GETNAME", client_getname}, {"ID", client_id},           {"KILL", client_kill},
    {"LIST", client_list},       {"SETNAME", client_setname}, {"UNBLOCK", client_unblock},
};

bool AdminCommands::run(ModelServer& server, ModelServer::Client& client, Args args,
                        std::string& reply) {
  const std::string name = upper(args[0]);
  const auto* found = std::find_if(std::begin(kHandlers), std::end(kHandlers),
                                   [&](const Named& named) { return named.name == name; });
  if (found == std::end(kHandlers)) return false;
  Context context{server, client, args, reply};
  found->handler(context);
  return true;
}

// ---- connections
// ----------------------------------------------------------------------------------

void AdminCommands::auth(Context& context) {
  const std::string& password = context.server.options_.password;
  if (context.args.size() > 3) return wire::append_error(context.reply, kSyntax);
  if (password.empty() && context.args.size() == 2)
    return wire::append_error(
        context.reply,
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  const bool known_user = context.args.size() == 2 || context.args[1] == "default";
  const bool right = password.empty() || context.args.back() == password;
  if (!known_user || !right)
    return wire::append_error(context.reply,
                              "WRONGPASS invalid username-password pair or user is disabled.");
  context.client.authenticated = true;
  wire::append_status(context.reply, "OK");
}

void AdminCommands::client(Context& context) {
  const std::string name = upper(context.args[1]);
  const auto* found = std::find_if(std::begin(kClientHandlers), std::end(kClientHandlers),
                                   [&](const Named& named) { return named.name == name; });
  if (found == std::end(kClientHandlers))
    return wire::append_error(context.reply,
                              "ERR unknown subcommand '" + context.args[1] + "'. Try CLIENT HELP.");
  found->handler(context);
}

void AdminCommands::client_getname(Context& context) {
  if (context.client.name.empty())
    wire::append_null(context.reply);
  else
    wire::append_bulk(context.reply, context.client.name);
}

void AdminCommands::client_id(Context& context) {
  wire::append_integer(context.reply, static_cast<std::int64_t>(context.client.id));
}

void AdminCommands::client_setname(Context& context) {
  if (context.args.size() != 3)
    return wire::append_error(context.reply,
                              "ERR wrong number of arguments for 'client|setname' command");
  const std::string& name = context.args[2];
  if (std::any_of(name.begin(), name.end(), [](char c) { return c < '!' || c > '~'; }))
    return wire::append_error(
        context.reply, "ERR Client names cannot contain spaces, newlines or special characters.");
  context.client.name = name;
  wire::append_status(context.reply, "OK");
}

void AdminCommands::client_list(Context& context) {
  std::string text;
  for (const auto& [id, client] : context.server.clients_) {
    const auto age =
        std::chrono::duration_cast<seconds>(context.server.scheduler_.now() - client->since);
    text += "id=" + std::to_string(id) + " addr=" + client->stream->peer() +
            " laddr=" + net::to_string(context.server.options_.address) +
            " fd=8 name=" + client->name + " age=" + std::to_string(age.count()) +
            " idle=0 flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 "
            "multi-mem=0 rbs=1024 rbp=0 obl=0 oll=0 omem=0 tot-mem=1928 events=r cmd=client|list "
            "user=default redir=-1 resp=2\n";
  }
  wire::append_bulk(context.reply, text);
}

void AdminCommands::client_kill(Context& context) {
  ModelServer& server = context.server;
  if (context.args.size() == 3) {  // the old form: by address
    const auto found = std::find_if(
        server.clients_.begin(), server.clients_.end(),
        [&](const auto& item) { return item.second->stream->peer() == context.args[2]; });
    if (found == server.clients_.end())
      return wire::append_error(context.reply, "ERR No such client");
    const std::uint64_t id = found->first;
    wire::append_status(context.reply, "OK");
    if (id == context.client.id)
      context.client.closing = true;
    else
      server.kill(id);
    return;
  }
  std::int64_t id = 0;
  if (context.args.size() != 4 || upper(context.args[2]) != "ID")
    return wire::append_error(context.reply, kSyntax);
  if (!parse_integer(context.args[3], id) || id <= 0)
    return wire::append_error(context.reply, "ERR client-id should be greater than 0");
  const auto wanted = static_cast<std::uint64_t>(id);
  // SKIPME is the default: a connection never kills itself this way.
  const bool killed = wanted != context.client.id && server.kill(wanted);
  wire::append_integer(context.reply, killed ? 1 : 0);
}

void AdminCommands::client_unblock(Context& context) {
  wire::append_integer(context.reply, 0);  // the model has no blocking commands
}

void AdminCommands::quit(Context& context) {
  wire::append_status(context.reply, "OK");
  context.client.closing = true;
}

void AdminCommands::ping(Context& context) {
  if (context.args.size() > 2)
    return wire::append_error(context.reply, "ERR wrong number of arguments for 'ping' command");
  if (context.args.size() == 2)
    wire::append_bulk(context.reply, context.args[1]);
  else
    wire::append_status(context.reply, "PONG");
}

void AdminCommands::echo(Context& context) { wire::append_bulk(context.reply, context.args[1]); }

void AdminCommands::select(Context& context) {
  std::int64_t database = 0;
  if (!parse_integer(context.args[1], database))
    return wire::append_error(context.reply, "ERR invalid DB index");
  if (database != 0) return wire::append_error(context.reply, "ERR DB index is out of range");
  wire::append_status(context.reply, "OK");
}

// ---- transactions
// ---------------------------------------------------------------------------------

void AdminCommands::multi(Context& context) {
  if (context.client.in_transaction)
    return wire::append_error(context.reply, "ERR MULTI calls can not be nested");
  context.client.in_transaction = true;
  wire::append_status(context.reply, "OK");
}

void AdminCommands::discard(Context& context) {
  if (!context.client.in_transaction)
    return wire::append_error(context.reply, "ERR DISCARD without MULTI");
  context.client.in_transaction = false;
  context.client.transaction_broken = false;
  context.client.transaction.clear();
  wire::append_status(context.reply, "OK");
}

void AdminCommands::exec(Context& context) {
  ModelServer::Client& client = context.client;
  if (!client.in_transaction) return wire::append_error(context.reply, "ERR EXEC without MULTI");
  const auto commands = std::exchange(client.transaction, {});
  const bool broken = std::exchange(client.transaction_broken, false);
  client.in_transaction = false;
  if (broken)
    return wire::append_error(context.reply,
                              "EXECABORT Transaction discarded because of previous errors.");
  wire::append_array_header(context.reply, commands.size());
  for (const auto& args : commands) context.server.run_command(client, args, context.reply);
}

// ---- the server
// -----------------------------------------------------------------------------------

void AdminCommands::command(Context& context) {
  if (context.args.size() > 1)
    return wire::append_error(
        context.reply, "ERR unknown subcommand '" + context.args[1] + "'. Try COMMAND HELP.");
  append_command_table(context.reply);
}

std::string AdminCommands::info_text(ModelServer& server, const std::string& section) {
  std::string text;
  const bool all = section == "ALL" || section == "EVERYTHING";
  const auto wants = [&](std::string_view name) {
    return all || section == name || (section == "DEFAULT" && name != "COMMANDSTATS");
  };
  if (wants("SERVER"))
    text +=
        "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:" + server.run_id_ +
        "\r\ntcp_port:" + std::to_string(server.options_.address.port) + "\r\n\r\n";
  if (wants("MEMORY"))
    text += "# Memory\r\nused_memory:" + std::to_string(server.keys_.size() * 100 + 900'000) +
            "\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\r\n";
  if (wants("PERSISTENCE")) text += "# Persistence\r\nloading:0\r\n\r\n";
  if (wants("STATS"))
    text += "# Stats\r\ntotal_commands_processed:" + std::to_string(server.commands_run_) +
            "\r\nevicted_keys:0\r\n\r\n";
  if (wants("REPLICATION"))
    text += "# Replication\r\nrole:master\r\nconnected_slaves:" +
            std::to_string(server.options_.replicas) +
            "\r\nmaster_replid:" + server.replication_id_ + "\r\nmaster_repl_offset:0\r\n\r\n";
  if (wants("COMMANDSTATS")) {
    text += "# Commandstats\r\n";
    for (const auto& [name, calls] : server.calls_) {
      const auto took = static_cast<std::uint64_t>(calls.took / microseconds{1});
      text += "cmdstat_" + name + ":calls=" + std::to_string(calls.count) +
              ",usec=" + std::to_string(took) +
              ",usec_per_call=" + std::to_string(took / calls.count) +
              ".00,rejected_calls=0,failed_calls=0\r\n";
    }
    text += "\r\n";
  }
  if (wants("CPU")) {
    nanoseconds used{0};
    for (const auto& [name, calls] : server.calls_) used += calls.took;
    const std::string micros = std::to_string(used / microseconds{1} % 1'000'000);
    text += "# CPU\r\nused_cpu_sys_main_thread:0.000000\r\nused_cpu_user_main_thread:" +
            std::to_string(used / seconds{1}) + "." + std::string(6 - micros.size(), '0') + micros +
            "\r\n\r\n";
  }
  if (wants("KEYSPACE")) {
    text += "# Keyspace\r\n";
    if (server.keys_.size() > 0)
      text += "db0:keys=" + std::to_string(server.keys_.size()) + ",expires=0,avg_ttl=0\r\n";
    text += "\r\n";
  }
  return text;
}

void AdminCommands::info(Context& context) {
  if (context.args.size() == 1)
    return wire::append_bulk(context.reply, info_text(context.server, "DEFAULT"));
  std::string text;
  for (const std::string& section : context.args.subspan(1))
    text += info_text(context.server, upper(section));
  wire::append_bulk(context.reply, text);
}

void AdminCommands::role(Context& context) {
  wire::append_array_header(context.reply, 3);
  wire::append_bulk(context.reply, "master");
  wire::append_integer(context.reply, 0);
  wire::append_array_header(context.reply, 0);
}

void AdminCommands::time(Context& context) {
  const std::int64_t now_ms = context.server.current().now_ms();
  wire::append_array_header(context.reply, 2);
  wire::append_bulk(context.reply, std::to_string(now_ms / 1'000));
  wire::append_bulk(context.reply, std::to_string(now_ms % 1'000 * 1'000));
}

void AdminCommands::wait(Context& context) {
  std::int64_t replicas = 0;
  std::int64_t patience_ms = 0;
  if (!parse_integer(context.args[1], replicas) || !parse_integer(context.args[2], patience_ms))
    return wire::append_error(context.reply, kNotInteger);
  if (patience_ms < 0) return wire::append_error(context.reply, "ERR timeout is negative");
  wire::append_integer(context.reply, context.server.options_.replicas);
}

void AdminCommands::shutdown(Context& context) {
  ModelServer& server = context.server;
  server.scheduler_.at(server.scheduler_.now(), [&server] {
    if (server.running()) server.crash(Death::kProcess);
  });
}

namespace {

constexpr CommandInfo kServerCommands[] = {
    {"auth", -2, false, 0, 0, 0, nullptr},     {"client", -2, false, 0, 0, 0, nullptr},
    {"command", -1, false, 0, 0, 0, nullptr},  {"discard", 1, false, 0, 0, 0, nullptr},
    {"echo", 2, false, 0, 0, 0, nullptr},      {"exec", 1, false, 0, 0, 0, nullptr},
    {"info", -1, false, 0, 0, 0, nullptr},     {"multi", 1, false, 0, 0, 0, nullptr},
    {"ping", -1, false, 0, 0, 0, nullptr},     {"quit", -1, false, 0, 0, 0, nullptr},
    {"role", 1, false, 0, 0, 0, nullptr},      {"select", 2, false, 0, 0, 0, nullptr},
    {"shutdown", -1, false, 0, 0, 0, nullptr}, {"time", 1, false, 0, 0, 0, nullptr},
    {"wait", 3, false, 0, 0, 0, nullptr},
};

}  // namespace

std::span<const CommandInfo> server_commands() { return kServerCommands; }

}  // namespace cleave::sim
