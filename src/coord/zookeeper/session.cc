#include "coord/zookeeper/session.h"

#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/guarded.h"

namespace cleave::coord::zookeeper {

// How the client's threads reach the session: by the loop, and only if it is still there.
struct Door {
  net::Loop& loop;
  std::weak_ptr<void> alive;
  Session* session;  // to be touched on the loop only, while `alive`
  std::uint64_t generation;

  template <class Function>
  void post(Function function) const {
    loop.post([weak = alive, at = session, function = std::move(function)]() mutable {
      if (!weak.expired()) function(*at);
    });
  }
  void tell_state(int state) const {
    post([in = generation, state](Session& at) { at.on_state(in, state); });
  }
  void tell_changed(std::string path) const {
    post([path = std::move(path)](Session& at) { at.on_changed(path); });
  }
  void reply(std::uint64_t id, int code, Answer answer) const {
    post([in = generation, id, code, answer = std::move(answer)](Session& at) mutable {
      at.on_reply(in, id, code, std::move(answer));
    });
  }
};

// What a completion gets. Kept until its completion has come or the handle is closed: the client
// does not call every completion of a handle that is closed.
struct Token {
  const Door& door;
  std::uint64_t id;
};

struct Session::Handle {
  explicit Handle(Door made) : door(std::move(made)) {}
  const Door door;
  zhandle_t* client = nullptr;                             // the worker's
  std::map<std::uint64_t, std::unique_ptr<Token>> tokens;  // the loop's
};

namespace {

const Token& token_of(const void* data) { return *static_cast<const Token*>(data); }

// ---- on the client's threads -----------------------------------------------------------------

void on_event(zhandle_t* /*client*/, int type, int state, const char* path, void* context) {
  const Door& door = *static_cast<const Door*>(context);
  if (type == ZOO_SESSION_EVENT) return door.tell_state(state);
  door.tell_changed(path != nullptr ? path : "");
}

void reply(const void* data, int code, Answer answer) {
  const Token& token = token_of(data);
  token.door.reply(token.id, code, std::move(answer));
}

void on_void(int code, const void* data) { reply(data, code, {}); }

void on_string(int code, const char* /*path*/, const void* data) { reply(data, code, {}); }

void on_stat(int code, const Stat* stat, const void* data) {
  Answer answer;
  if (code == ZOK && stat != nullptr) {
    answer.version = stat->version;
    answer.value = std::to_string(stat->ephemeralOwner);
  }
  reply(data, code, std::move(answer));
}

void on_data(int code, const char* value, int size, const Stat* stat, const void* data) {
  Answer answer;
  if (code == ZOK && stat != nullptr) {
    if (value != nullptr && size > 0) answer.value.assign(value, static_cast<std::size_t>(size));
    answer.version = stat->version;
  }
  reply(data, code, std::move(answer));
}

void on_strings(int code, const String_vector* strings, const void* data) {
  Answer answer;
  if (code == ZOK && strings != nullptr)
    answer.children.assign(strings->data, strings->data + strings->count);
  reply(data, code, std::move(answer));
}

// ---- on any ----------------------------------------------------------------------------------

void drop_log(const char* /*message*/) {}  // each failure is told by a call or a state

// nullopt: no answer of the server's to the question.
std::optional<Answer::Outcome> outcome_of(int code) {
  switch (code) {
    case ZOK: return Answer::Outcome::kDone;
    case ZNONODE: return Answer::Outcome::kNoNode;
    case ZNODEEXISTS: return Answer::Outcome::kNodeExists;
    case ZBADVERSION: return Answer::Outcome::kBadVersion;
    default: return std::nullopt;
  }
}

// The server has refused it: nothing was done, and asking again does not help.
bool is_refusal(int code) {
  return code == ZNOAUTH || code == ZINVALIDACL || code == ZBADARGUMENTS ||
         code == ZMARSHALLINGERROR || code == ZUNIMPLEMENTED || code == ZNOTEMPTY;
}

std::string joined(const std::vector<std::string>& servers) {
  std::string all;
  for (const std::string& server : servers) all += (all.empty() ? "" : ",") + server;
  return all;
}

}  // namespace

// ---- handles ---------------------------------------------------------------------------------

Session::Session(net::Loop& loop, const ZookeeperOptions& options)
    : loop_(loop),
      options_(options),
      servers_(joined(options.servers)),
      backoff_(options.retry_first, options.retry_max, options.seed),
      latest_error_("ZooKeeper " + servers_ + ": not connected") {
  open();
}

Session::~Session() {
  loop_.cancel(pause_);
  for (const SharedCall& call : waiting_) loop_.cancel(call->deadline);
  for (const auto& [id, call] : in_flight_) loop_.cancel(call->deadline);
  close_handle();
}

// Nothing while there is none, between two handles.
void Session::close_handle() {
  client_ = nullptr;
  worker_.post([handle = std::exchange(handle_, nullptr)] {
    if (handle && handle->client != nullptr) zookeeper_close(handle->client);
  });
}

void Session::open() {
  handle_ = std::make_shared<Handle>(
      Door{.loop = loop_, .alive = alive_, .session = this, .generation = ++generation_});
  worker_.post([handle = handle_, servers = servers_, user = options_.user,
                password = options_.password,
                timeout = static_cast<int>(options_.session_timeout.count())] {
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    // The context is not written to; the client's type knows no const.
    auto* door = const_cast<Door*>(&handle->door);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    zhandle_t* opened =
        zookeeper_init2(servers.c_str(), &on_event, timeout, nullptr, door, 0, &drop_log);
    std::string error;
    if (opened == nullptr) error = std::generic_category().message(errno);
    const std::string secret = user + ":" + password;
    if (opened != nullptr && !user.empty())
      zoo_add_auth(opened, "digest", secret.data(), static_cast<int>(secret.size()), nullptr,
                   nullptr);
    // Only this thread closes, so it must know by itself what it has opened.
    handle->client = opened;
    handle->door.post([in = handle->door.generation, opened, error](Session& at) {
      at.on_opened(in, opened, error);
    });
  });
}

void Session::on_opened(std::uint64_t generation, zhandle_t* opened, const std::string& error) {
  if (generation != generation_) return;
  if (opened == nullptr) {
    latest_error_ = "ZooKeeper " + servers_ + ": cannot open a session: " + error;
    return replace();
  }
  client_ = opened;
  pump();
}

void Session::on_state(std::uint64_t generation, int state) {
  if (generation != generation_) return;
  connected_ = state == ZOO_CONNECTED_STATE;
  if (connected_) {
    backoff_.reset();
    return pump();
  }
  latest_error_ = "ZooKeeper " + servers_ + ": not connected";
  if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
    latest_error_ = "ZooKeeper " + servers_ +
                    (state == ZOO_AUTH_FAILED_STATE ? ": it refuses user '" + options_.user + "'"
                                                    : std::string(": the session has expired"));
    replace();
  }
}

// The handle is of no use: what is in flight on it may have had its effect.
void Session::replace() {
  connected_ = false;
  if (pause_ != net::TimerId{}) return;
  close_handle();
  ++generation_;  // what the old one still says is not for us
  pause_ = loop_.after(backoff_.next(), [this] {
    pause_ = {};
    open();
    on_new_generation();
  });
  const std::map<std::uint64_t, SharedCall> lost = std::exchange(in_flight_, {});
  const std::weak_ptr<void> alive = alive_;
  for (const auto& [id, call] : lost) {
    if (!alive.expired()) lose(call, latest_error_);
  }
}

// ---- calls -----------------------------------------------------------------------------------

void Session::call(Operation operation, Repeat repeat, Done done, Instant until) {
  const auto made = std::make_shared<Call>(Call{.operation = std::move(operation),
                                                .repeat = repeat,
                                                .done = std::move(done),
                                                .deadline = {},
                                                .patience = patience(repeat, until)});
  if (waiting_.size() + in_flight_.size() >= options_.queue_max) {
    return loop_.post(guarded(alive_, [this, made] {
      answer(made, fail(Code::kUnavailable, "ZooKeeper: " + std::to_string(options_.queue_max) +
                                                " calls wait already: " + latest_error_));
    }));
  }
  made->deadline =
      loop_.after(made->patience, guarded(alive_, [this, made] { on_deadline(made); }));
  waiting_.push_back(made);
  // Not at once: an operation of a gone generation would be answered within the call.
  loop_.post(guarded(alive_, [this] { pump(); }));
}

milliseconds Session::patience(Repeat repeat, Instant until) const {
  const milliseconds most = repeat == Repeat::kAllowed
                                ? options_.call_timeout
                                : std::min(options_.call_timeout, options_.write_timeout);
  const auto left = std::chrono::duration_cast<milliseconds>(until - loop_.now());
  return std::clamp(left, milliseconds{0}, most);
}

void Session::pump() {
  const std::weak_ptr<void> alive = alive_;
  while (!alive.expired() && connected_ && client_ != nullptr && !waiting_.empty()) {
    const SharedCall call = waiting_.front();
    waiting_.pop_front();
    if (call->operation.generation != 0 && call->operation.generation != generation_) {
      answer(call, fail(Code::kUnavailable, "ZooKeeper: the session was replaced"));
    } else {
      issue(call);
    }
  }
}

void Session::issue(const SharedCall& call) {
  const std::uint64_t id = ++latest_id_;
  auto& token = handle_->tokens[id];
  token = std::make_unique<Token>(Token{.door = handle_->door, .id = id});
  const int refused = hand_over(call->operation, token.get());
  if (refused == ZOK) {
    in_flight_.emplace(id, call);
    return;
  }
  handle_->tokens.erase(id);
  if (is_refusal(refused))
    return answer(call, fail(Code::kUnavailable,
                             "ZooKeeper " + call->operation.path + ": " + zerror(refused)));
  connected_ = false;  // the state that says why is on its way
  waiting_.push_front(call);
}

int Session::hand_over(const Operation& operation, const void* token) const {
  const char* path = operation.path.c_str();
  const char* value = operation.value.data();
  const int size = static_cast<int>(operation.value.size());
  const ACL_vector* acl = options_.user.empty() ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
  const int watch = operation.watch ? 1 : 0;
  switch (operation.kind) {
    case Operation::Kind::kGet: return zoo_aget(client_, path, watch, &on_data, token);
    case Operation::Kind::kExists: return zoo_aexists(client_, path, watch, &on_stat, token);
    case Operation::Kind::kSet:
      return zoo_aset(client_, path, value, size, operation.version, &on_stat, token);
    case Operation::Kind::kCreate:
      return zoo_acreate(client_, path, value, size, acl, ZOO_PERSISTENT, &on_string, token);
    case Operation::Kind::kCreateEphemeral:
      return zoo_acreate(client_, path, value, size, acl, ZOO_EPHEMERAL, &on_string, token);
    case Operation::Kind::kDelete: return zoo_adelete(client_, path, -1, &on_void, token);
    case Operation::Kind::kList: return zoo_aget_children(client_, path, 0, &on_strings, token);
  }
  return ZBADARGUMENTS;
}

void Session::on_reply(std::uint64_t generation, std::uint64_t id, int code, Answer reply) {
  if (generation != generation_) return;
  handle_->tokens.erase(id);
  const auto found = in_flight_.find(id);
  if (found == in_flight_.end()) return;  // its deadline has passed
  const SharedCall call = found->second;
  in_flight_.erase(found);
  if (const auto outcome = outcome_of(code)) {
    reply.outcome = *outcome;
    reply.generation = generation;
    if (call->operation.kind == Operation::Kind::kExists)
      reply.ours = reply.value == std::to_string(zoo_client_id(client_)->client_id);
    return answer(call, std::move(reply));
  }
  const std::string why =
      "ZooKeeper " + servers_ + ": " + call->operation.path + ": " + zerror(code);
  if (is_refusal(code)) {
    return answer(call, fail(Code::kUnavailable, code == ZNOAUTH
                                                     ? why + "; is it user '" + options_.user +
                                                           "' and his password that made this node?"
                                                     : why));
  }
  lose(call, why);
}

void Session::lose(const SharedCall& call, const std::string& why) {
  if (call->repeat == Repeat::kNever)
    return answer(call, fail(Code::kTimeout, why + "; whether it was done is unknown"));
  waiting_.push_front(call);
  loop_.post(guarded(alive_, [this] { pump(); }));
}

void Session::on_deadline(const SharedCall& call) {
  const std::string late = "; no answer within " + std::to_string(call->patience.count()) + " ms";
  if (std::erase(waiting_, call) > 0)
    return answer(call, fail(Code::kUnavailable, latest_error_ + late));
  std::erase_if(in_flight_, [&](const auto& entry) { return entry.second == call; });
  answer(call, fail(Code::kTimeout, "ZooKeeper " + servers_ + late));
}

void Session::answer(const SharedCall& call, Result<Answer> result) {
  loop_.cancel(call->deadline);
  if (const Done done = std::exchange(call->done, nullptr)) done(std::move(result));
}

}  // namespace cleave::coord::zookeeper
