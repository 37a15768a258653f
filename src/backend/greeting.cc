#include "backend/greeting.h"

#include "backend/commands.h"
#include "base/own_names.h"

namespace cleave::backend {
namespace {

// The last four replies are always these; a reply to AUTH may come before them.
constexpr std::size_t kFixedReplies = 4;

std::unexpected<Error> refused(std::string_view what, const wire::Reply& reply) {
  const std::string said = reply.is_error() ? reply.text : "a reply of another type";
  return fail(Code::kUnavailable, std::string(what) + " was refused: " + said);
}

}  // namespace

Greeting greeting(const Credentials& credentials, const SessionId& session) {
  Greeting result;
  const auto add = [&result](std::string bytes) {
    result.bytes += bytes;
    ++result.replies;
  };
  if (!credentials.password.empty()) {
    add(credentials.user.empty() ? wire::command({"AUTH", credentials.password})
                                 : wire::command({"AUTH", credentials.user, credentials.password}));
  }
  add(wire::command({"CLIENT", "SETNAME", std::string(kConnectionPrefix) + session.value()}));
  add(wire::command({"CLIENT", "ID"}));
  add(wire::command({"INFO", "server"}));
  add(wire::command({"INFO", "replication"}));
  return result;
}

Result<Identity> identity_of(std::span<const wire::Reply> replies) {
  if (replies.size() < kFixedReplies) return fail(Code::kInvalid, "greeting: too few replies");
  if (replies.size() > kFixedReplies && replies.front().is_error()) {
    return refused("AUTH", replies.front());
  }
  replies = replies.last(kFixedReplies);
  if (replies[0].type != wire::Reply::Type::kStatus) return refused("CLIENT SETNAME", replies[0]);
  if (replies[1].type != wire::Reply::Type::kInteger) return refused("CLIENT ID", replies[1]);
  if (replies[2].type != wire::Reply::Type::kBulk) return refused("INFO server", replies[2]);
  if (replies[3].type != wire::Reply::Type::kBulk) return refused("INFO replication", replies[3]);

  if (const auto usable = check_mode(replies[2].text); !usable) {
    return std::unexpected(usable.error());
  }
  Identity identity;
  identity.connection_id = static_cast<std::uint64_t>(replies[1].integer);
  identity.incarnation.run_id = info_field(replies[2].text, "run_id");
  identity.version = info_field(replies[2].text, "redis_version");
  identity.incarnation.replication_id = info_field(replies[3].text, "master_replid");
  identity.primary = info_field(replies[3].text, "role") == "master";
  if (identity.incarnation.run_id.empty() || identity.incarnation.replication_id.empty()) {
    return fail(Code::kUnavailable, "INFO names no run_id or master_replid");
  }
  return identity;
}

Result<void> check_mode(std::string_view info_server) {
  // Valkey tells it under a name of its own.
  for (const char* field : {"redis_mode", "server_mode"}) {
    if (info_field(info_server, field) != "cluster") continue;
    return fail(Code::kUnavailable,
                std::string("the server is in cluster mode (") + field +
                    ":cluster) and would refuse keys outside of its slots: start it with "
                    "'cluster-enabled no'");
  }
  return {};
}

std::string kill_command(std::uint64_t connection_id) {
  return wire::command({"CLIENT", "KILL", "ID", std::to_string(connection_id)});
}

}  // namespace cleave::backend
