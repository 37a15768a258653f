#include "sim/model/server.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim/model/admin_commands.h"
#include "sim/model/command.h"

namespace cleave::sim {
namespace {

constexpr std::uint64_t kRngPurpose = 0x7365727665;

// A server that is not durable has written everything to disk after one command of so many.
constexpr std::uint64_t kSyncEvery = 40;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

// redis-server 7.0's words, with at most 128 bytes of arguments.
std::string unknown_command(std::span<const std::string> args) {
  std::string shown;
  for (const std::string& arg : args.subspan(1)) {
    if (shown.size() >= 128) break;
    shown += "'" + arg.substr(0, 128 - shown.size()) + "' ";
  }
  return "ERR unknown command '" + args[0].substr(0, 128) + "', with args beginning with: " + shown;
}

}  // namespace

ModelServer::Client::Client(ModelServer& owner, std::uint64_t number,
                            std::unique_ptr<net::Stream> opened)
    : server(owner), id(number), stream(std::move(opened)), parser(Limits{}) {}

void ModelServer::Client::on_closed(const Error& /*why*/) { server.enqueue({id, {}, {}, true}); }

ModelServer::ModelServer(Scheduler& scheduler, Network& network, Options options)
    : scheduler_(scheduler),
      network_(network),
      options_(std::move(options)),
      process_(network.add_process(options_.address.host)),
      rng_(scheduler.fork(kRngPurpose + options_.seed)),
      keys_(rng_.next()) {
  new_incarnation();
  open();
}

ModelServer::~ModelServer() = default;

void ModelServer::new_incarnation() {
  run_id_ = random_hex();
  replication_id_ = random_hex();
}

std::string ModelServer::random_hex() {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "0123456789abcdef"[rng_.below(16)];
  return text;
}

void ModelServer::open() {
  loop_ = std::make_unique<SimLoop>(network_, process_);
  auto listener =
      loop_->listen(options_.address, {.choose = [this]() -> net::Loop& { return *loop_; },
                                       .accepted =
                                           [this](net::Loop&, std::unique_ptr<net::Stream> stream) {
                                             auto client = std::make_unique<Client>(
                                                 *this, next_client_++, std::move(stream));
                                             client->since = scheduler_.now();
                                             client->authenticated = options_.password.empty();
                                             Client& added = *client;
                                             clients_.emplace(added.id, std::move(client));
                                             added.stream->start(added);
                                           }});
  CHECK(listener.has_value());
  listener_ = std::move(*listener);
}

void ModelServer::crash(Death death) {
  network_.crash(process_, death);
  clients_.clear();
  queue_.clear();
  scheduled_ = false;
  listener_.reset();
  loop_.reset();
}

std::set<std::string> ModelServer::start(std::size_t changes_lost) {
  network_.start(process_);
  std::set<std::string> lost = keys_.lose(changes_lost);
  new_incarnation();
  open();
  return lost;
}

std::set<std::string> ModelServer::failover(std::size_t changes_lost, Connections connections) {
  std::set<std::string> lost = keys_.lose(changes_lost);
  replication_id_ = random_hex();
  if (connections == Connections::kSurvive) return lost;
  queue_.clear();
  clients_.clear();
  return lost;
}

Keyspace& ModelServer::current() {
  keys_.set_now(scheduler_.wall_now().value() + options_.clock_skew_ms);
  return keys_;
}

void ModelServer::read(Client& client, std::string_view bytes) {
  client.inbox.append(bytes);
  std::size_t taken = 0;
  while (taken < client.inbox.size()) {
    wire::Request parsed;
    const auto used = client.parser.parse(std::string_view(client.inbox).substr(taken), parsed);
    if (!used) {
      client.stream->pause_reading();
      enqueue({client.id, {}, used.error().message, false});
      break;
    }
    if (*used == 0) break;
    if (!parsed.args.empty()) {
      Request request;
      request.client = client.id;
      for (const std::string_view arg : parsed.args) request.args.emplace_back(arg);
      enqueue(std::move(request));
    }
    taken += *used;
  }
  client.inbox.erase(0, taken);
}

void ModelServer::enqueue(Request request) {
  queue_.push_back(std::move(request));
  schedule();
}

void ModelServer::schedule() {
  if (scheduled_ || queue_.empty()) return;
  scheduled_ = true;
  const auto bound = static_cast<std::uint64_t>(longest(queue_.front()).count());
  took_ = nanoseconds(1 + rng_.below(bound));
  loop_->run_at(scheduler_.now() + took_, [this] { run_next(); });
}

// A driver's connection has a name with a dot (control/moves/sweep.h).
nanoseconds ModelServer::longest(const Request& request) const {
  if (options_.key_command_max == nanoseconds{0} || request.args.empty())
    return options_.command_max;
  const CommandInfo* info = find_command(request.args[0]);
  const auto client = clients_.find(request.client);
  const bool routed = info != nullptr && info->first_key > 0 && client != clients_.end() &&
                      client->second->name.find('.') == std::string::npos;
  return routed ? std::max(options_.key_command_max, options_.command_max) : options_.command_max;
}

void ModelServer::run_next() {
  scheduled_ = false;
  if (queue_.empty()) return;
  const Request request = std::move(queue_.front());
  queue_.pop_front();
  const auto found = clients_.find(request.client);
  if (found != clients_.end()) {
    Client& client = *found->second;
    std::string reply;
    if (!request.protocol_error.empty()) {
      wire::append_error(reply, "ERR " + request.protocol_error);
      client.closing = true;
    } else if (!request.ended) {
      execute(client, request.args, reply);
    }
    if (!reply.empty()) client.stream->send(reply);
    // The command may have killed its own connection.
    if (request.ended || (clients_.contains(request.client) && client.closing))
      kill(request.client);
  }
  if (process_.alive()) schedule();
}

bool ModelServer::kill(std::uint64_t id) {
  std::erase_if(queue_, [id](const Request& request) { return request.client == id; });
  return clients_.erase(id) == 1;
}

bool ModelServer::admit(Client& client, std::span<const std::string> args, std::string& reply) {
  const CommandInfo* info = find_command(args[0]);
  const auto count = static_cast<std::int32_t>(args.size());
  std::string refusal;
  if (info == nullptr) {
    refusal = unknown_command(args);
  } else if (info->arity > 0 ? count != info->arity : count < -info->arity) {
    refusal = "ERR wrong number of arguments for '" + lower(args[0]) + "' command";
  } else if (!client.authenticated && info->name != "auth" && info->name != "quit") {
    refusal = "NOAUTH Authentication required.";
  } else if (info->name == refused_command_) {
    refusal = refusal_;
  }
  if (refusal.empty()) return true;
  client.transaction_broken = client.transaction_broken || client.in_transaction;
  wire::append_error(reply, refusal);
  return false;
}

void ModelServer::execute(Client& client, std::span<const std::string> args, std::string& reply) {
  if (!admit(client, args, reply)) return;
  const std::string_view name = find_command(args[0])->name;
  if (client.in_transaction && name != "exec" && name != "discard" && name != "multi" &&
      name != "quit") {
    client.transaction.emplace_back(args.begin(), args.end());
    wire::append_status(reply, "QUEUED");
    return;
  }
  run_command(client, args, reply);
}

void ModelServer::run_command(Client& client, std::span<const std::string> args,
                              std::string& reply) {
  const CommandInfo* info = find_command(args[0]);
  ++commands_run_;
  Calls& calls = calls_[std::string(info->name)];
  ++calls.count;
  calls.took += took_;
  std::string seen = client.name;
  for (const std::string& arg : args) seen += ' ' + arg;
  scheduler_.note(EventKind::kExecuted, process_.number(), seen);
  if (observer_) observer_(*this, args, client.name);
  if (!AdminCommands::run(*this, client, args, reply)) {
    Call call{current(), args, reply};
    info->handler(call);
  }
  if (options_.durable || rng_.chance(1, kSyncEvery)) keys_.sync();
}

}  // namespace cleave::sim
