#include "proxy/worker.h"

#include <utility>

#include "base/check.h"
#include "proxy/answers/registry.h"
#include "proxy/fan_out/everywhere.h"

namespace cleave::proxy {
namespace {

constexpr milliseconds kHousePeriod{250};

constexpr std::string_view kMultiRefusedBefore =
    "ERR cleave: not executed: it belongs to a transaction, and those are not supported yet; EXEC "
    "or DISCARD ends it";

// Redis closes the connection at these, lest a web page make a browser send commands.
bool begins_http(std::string_view name) {
  return route::same_word(name, "POST") || route::same_word(name, "Host:");
}

const Answer& answer_of(const route::Decision& decision) {
  return *kAnswers[decision.spec->handling.answer];
}

// What is answered as ever after a MULTI that was refused.
bool ends_multi(const route::Decision& decision) {
  return decision.action == route::Action::kLocal && answer_of(decision).ends_multi;
}

}  // namespace

Worker::Worker(Options options)
    : options_(std::move(options)),
      clients_({.loop = options_.loop,
                .limits = options_.limits,
                .handler = *this,
                .counters = counters(),
                .shared_bytes_max = kSharedBytesMax,
                .worker = options_.number,
                .workers = options_.process->workers.size(),
                .trusted = options_.client_password.empty()}),
      dispatch_({.loop = options_.loop,
                 .gate = *options_.gate,
                 .credentials = options_.credentials,
                 .limits = options_.limits,
                 .mutations = options_.mutations,
                 .seed = options_.seed,
                 .counters = counters(),
                 .cleared = options_.cleared}),
      gatherings_(dispatch_, counters(), options_.limits.fan_out_bytes_max),
      splits_(dispatch_, gatherings_),
      key_counts_({.loop = options_.loop,
                   .dispatch = dispatch_,
                   .gatherings = gatherings_,
                   .limits = options_.limits,
                   .ask_leader = options_.count_keys}),
      flushes_({.loop = options_.loop,
                .dispatch = dispatch_,
                .gatherings = gatherings_,
                .counters = counters(),
                .mutations = options_.mutations}),
      reparser_(options_.limits) {
  keep_house();
}

Worker::~Worker() {
  if (!stopped_) stop(Error{Code::kUnavailable, "the router ends"});
}

// ---- orders of the DataPath ---------------------------------------------------------------------

void Worker::adopt(const ring::RingSnapshot& view) {
  if (stopped_) return;
  if (dispatch_.has_view() && view->epoch() <= dispatch_.view().epoch()) return;
  dispatch_.adopt(view);
  options_.adopted(view->epoch());
}

void Worker::learn(std::shared_ptr<const ServerCommands> commands) {
  router_ = std::make_unique<route::CommandRouter>(commands->table(), options_.limits);
  commands_ = std::move(commands);
}

void Worker::add_client(std::unique_ptr<net::Stream> stream) {
  CHECK(dispatch_.has_view() && router_ != nullptr);
  if (!stopped_) clients_.add(std::move(stream));
}

// Clients first: what the rooms behind them give up then goes to nobody.
void Worker::stop(const Error& why) {
  if (std::exchange(stopped_, true)) return;
  options_.loop.cancel(house_);
  const std::string text = "ERR cleave: " + why.message;
  clients_.stop(text);
  key_counts_.stop(text);
  dispatch_.stop(text);
}

void Worker::keep_house() {
  house_ = options_.loop.after(kHousePeriod, [this] {
    clients_.tick();
    dispatch_.tick();
    key_counts_.tick();
    keep_house();
  });
}

// ---- requests ---------------------------------------------------------------------------------

void Worker::handle(Client& client, const wire::Request& said) {
  counters().requests.add();
  if (begins_http(said.args[0])) {
    return clients_.shed(client, ShedCause::kHttp, "speaks HTTP, so somebody may abuse a browser");
  }
  if (!client.facts.authenticated && !needs_no_password(said.args[0])) {
    return refuse(client, "NOAUTH Authentication required.");
  }
  router_->route(said.args, dispatch_.view(), decision_);
  if (client.facts.multi_refused && !ends_multi(decision_)) {
    return refuse(client, kMultiRefusedBefore);
  }
  carry_out(client, decision_, said);
}

void Worker::carry_out(Client& client, const route::Decision& decision, const wire::Request& said) {
  switch (decision.action) {
    case route::Action::kForward:
      return dispatch_.forward(clients_.open(client, decision.writes), decision, clean(said));
    case route::Action::kSplit:
      return splits_.split(clients_.open(client, decision.writes), decision, clean(said));
    case route::Action::kEverywhere: return everywhere(client, decision, said);
    case route::Action::kLocal: return answer(client, decision, said);
    case route::Action::kRefuse: return refuse(client, decision.refusal);
  }
}

void Worker::everywhere(Client& client, const route::Decision& decision,
                        const wire::Request& said) {
  if (decision.merge != route::Merge::kAllOk) {
    return key_counts_.count(clients_.open(client, /*writes=*/false));
  }
  if (const std::string why = flush_refusal(said.args); !why.empty()) return refuse(client, why);
  flushes_.flush(clients_.open(client, /*writes=*/true), decision, said.args.subspan(1));
}

void Worker::answer(Client& client, const route::Decision& decision, const wire::Request& said) {
  reply_.clear();
  const After after = answer_of(decision).handler({.args = said.args,
                                                   .spec = *decision.spec,
                                                   .client = client.facts,
                                                   .commands = *commands_,
                                                   .process = *options_.process,
                                                   .view = dispatch_.view(),
                                                   .limits = options_.limits,
                                                   .password = options_.client_password,
                                                   .now = options_.loop.now(),
                                                   .wall = options_.loop.wall_now()},
                                                  reply_);
  if (after == After::kRefused) counters().refused.add();
  if (after == After::kClose) client.finish_up();
  clients_.answer_now(client, reply_);
}

void Worker::refuse(Client& client, std::string_view text) {
  counters().refused.add();
  clients_.answer_error(client, text);
}

// The request as a clean frame whose arguments lie within its raw bytes.
wire::Request Worker::clean(const wire::Request& said) {
  if (said.multibulk) return said;
  reencoded_.clear();
  wire::append_command(reencoded_, said.args);
  wire::Request again;
  const Result<std::size_t> size = reparser_.parse(reencoded_, again);
  CHECK(size && *size == reencoded_.size());
  return again;
}

}  // namespace cleave::proxy
