#include "coord/etcd/client.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "coord/etcd/messages.h"

namespace cleave::coord::etcd {
namespace {

// gRPC's status codes that matter.
constexpr int kGrpcNotFound = 5;
constexpr int kGrpcFailedPrecondition = 9;
constexpr int kGrpcOutOfRange = 11;

// A token that is refused twice for one call is not a matter of its age.
constexpr int kTokensRefusedMax = 2;

// An answer that does not say that it was not done: "request timed out" is among those from 500 on,
// the gateway's words for a cancelled call are the others.
bool may_be_done(int status) { return status >= 500 || status == 408 || status == 499; }

Code code_of(int grpc) {
  if (grpc == kGrpcNotFound) return Code::kNotFound;
  if (grpc == kGrpcOutOfRange) return Code::kConflict;
  return Code::kUnavailable;
}

}  // namespace

Client::Client(net::Loop& loop, const EtcdOptions& options, Endpoints& endpoints)
    : loop_(loop),
      options_(options),
      endpoints_(endpoints),
      backoff_(options.retry_first, options.retry_max, options.seed) {}

Client::~Client() {
  loop_.cancel(attempt_);
  loop_.cancel(pause_);
  if (current_) loop_.cancel(current_->deadline);
  for (const SharedCall& call : waiting_) loop_.cancel(call->deadline);
}

void Client::call(std::string path, std::string body, Repeat repeat, Done done) {
  const auto made = std::make_shared<Call>(Call{.path = std::move(path),
                                                .body = std::move(body),
                                                .repeat = repeat,
                                                .done = std::move(done),
                                                .deadline = {}});
  if (waiting_.size() >= options_.queue_max) {
    return loop_.post(guarded(alive_, [this, made] {
      answer(made, fail(Code::kUnavailable, "etcd: " + std::to_string(options_.queue_max) +
                                                " calls wait already: " + latest_error_));
    }));
  }
  const milliseconds most = repeat == Repeat::kNever
                                ? std::min(options_.write_timeout, options_.call_timeout)
                                : options_.call_timeout;
  made->deadline = loop_.after(most, guarded(alive_, [this, made] { on_deadline(made); }));
  waiting_.push_back(made);
  pump();
}

// Does the next thing that can be done; called whenever something has changed.
void Client::pump() {
  if (current_ || waiting_.empty() || connecting_ || authenticating_) return;
  if (link_ && link_->closed()) link_.reset();  // closed while idle: nothing was lost
  if (!link_) return connect();
  if (!ready()) return authenticate();
  current_ = waiting_.front();
  waiting_.pop_front();
  send(current_->path, current_->body, [this](const Result<net::HttpReply>& reply) {
    if (!reply) return lose(reply.error());
    on_reply(*reply);
  });
}

void Client::connect() {
  if (pause_ != net::TimerId{}) return;
  connecting_ = true;
  endpoints_.connect(guarded(alive_, [this](Result<Endpoints::Linked> linked) {
    connecting_ = false;
    if (!linked) {
      latest_error_ = linked.error().message;
      return wait_and_pump();
    }
    link_ = std::move(linked->link);
    which_ = linked->which;
    pump();
  }));
}

// On the next good endpoint at once; if there is none, later.
void Client::wait_and_pump() {
  if (endpoints_.any_good()) return pump();
  if (pause_ != net::TimerId{}) return;
  pause_ = loop_.after(backoff_.next(), [this] {
    pause_ = {};
    pump();
  });
}

void Client::send(const std::string& path, const std::string& body,
                  std::function<void(Result<net::HttpReply>)> done) {
  net::HttpAsk ask{.target = path, .headers = {{"content-type", "application/json"}}, .body = body};
  if (!token_.empty()) ask.headers.emplace_back("authorization", token_);
  attempt_ = loop_.after(options_.request_timeout, [this] {
    lose(Error{Code::kTimeout,
               "no answer within " + std::to_string(options_.request_timeout.count()) + " ms"});
  });
  link_->request(ask, [this, done = std::move(done)](Result<net::HttpReply> reply) {
    loop_.cancel(std::exchange(attempt_, net::TimerId{}));
    done(std::move(reply));
  });
}

void Client::authenticate() {
  authenticating_ = true;
  token_.clear();
  send("/v3/auth/authenticate", authenticate_body(options_.user, options_.password),
       [this](const Result<net::HttpReply>& reply) {
         if (!reply) return lose(reply.error());
         on_authenticated(*reply);
       });
}

void Client::on_authenticated(const net::HttpReply& reply) {
  const Refusal refusal = parse_refusal(reply.body);
  if (reply.status >= 500) return lose(Error{Code::kUnavailable, refusal.message});
  authenticating_ = false;
  if (reply.status == 200) {
    const Result<std::string> token = parse_token(reply.body);
    if (!token) return lose(token.error());
    token_ = *token;
  } else if (refusal.code != kGrpcFailedPrecondition) {  // that is: authentication is off
    return fail_waiting(Error{Code::kUnavailable, "etcd " + endpoints_.name(which_) +
                                                      " refused user '" + options_.user +
                                                      "': " + refusal.message});
  }
  authenticated_ = true;
  pump();
}

bool Client::refused_token(const net::HttpReply& reply) const {
  if (options_.user.empty() || current_->tokens_refused >= kTokensRefusedMax) return false;
  const std::string message = parse_refusal(reply.body).message;
  // The second: authentication was switched on meanwhile; the third: users were changed.
  return reply.status == 401 || message.ends_with("user name is empty") ||
         message.ends_with("auth store is old");
}

void Client::on_reply(const net::HttpReply& reply) {
  if (reply.status == 200) {
    endpoints_.mark_good(which_);
    backoff_.reset();
    return answer(std::exchange(current_, nullptr), reply.body);
  }
  if (refused_token(reply)) {
    ++current_->tokens_refused;
    waiting_.push_front(std::exchange(current_, nullptr));
    authenticated_ = false;
    return pump();
  }
  const Refusal refusal = parse_refusal(reply.body);
  if (may_be_done(reply.status)) return lose(Error{Code::kUnavailable, refusal.message});
  const SharedCall call = std::exchange(current_, nullptr);
  answer(call, fail(code_of(refusal.code),
                    "etcd " + endpoints_.name(which_) + call->path + ": " + refusal.message));
}

// The connection is of no use any more; what was sent on it may have had its effect.
void Client::lose(const Error& why) {
  const SharedCall call = std::exchange(current_, nullptr);
  const bool no_effect = !link_ || link_->nothing_sent();
  const std::weak_ptr<void> alive = alive_;
  give_up_link(why);
  if (alive.expired()) return;
  if (call && (no_effect || call->repeat == Repeat::kAllowed)) {
    waiting_.push_front(call);
  } else if (call) {
    answer(call, fail(Code::kTimeout,
                      latest_error_ + "; whether " + call->path + " was done is unknown"));
    if (alive.expired()) return;
  }
  wait_and_pump();
}

void Client::give_up_link(const Error& why) {
  loop_.cancel(std::exchange(attempt_, net::TimerId{}));
  authenticating_ = false;
  link_.reset();
  latest_error_ = "etcd " + endpoints_.name(which_) + ": " + why.message;
  endpoints_.mark_bad(which_);
}

void Client::on_deadline(const SharedCall& call) {
  if (current_ == call) {
    call->repeat = Repeat::kNever;
    return lose(Error{Code::kTimeout, "no answer in time"});
  }
  std::erase(waiting_, call);
  answer(call, fail(Code::kUnavailable, latest_error_));
}

void Client::fail_waiting(const Error& why) {
  latest_error_ = why.message;
  const std::deque<SharedCall> failed = std::exchange(waiting_, {});
  const std::weak_ptr<void> alive = alive_;
  for (const SharedCall& call : failed) {
    if (!alive.expired()) answer(call, std::unexpected(why));
  }
}

void Client::answer(const SharedCall& call, Result<std::string> result) {
  loop_.cancel(call->deadline);
  const std::weak_ptr<void> alive = alive_;
  std::exchange(call->done, nullptr)(std::move(result));
  if (!alive.expired()) pump();
}

}  // namespace cleave::coord::etcd
