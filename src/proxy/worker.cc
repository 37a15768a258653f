#include "proxy/worker.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cleave::proxy {
namespace {

constexpr milliseconds kHousePeriod{250};
// Pooled objects kept for later; together some MiB.
constexpr std::size_t kPoolKept = 8'192;

}  // namespace

Worker::Worker(Options options)
    : options_(std::move(options)),
      links_({.loop = options_.loop,
              .gate = *options_.gate,
              .credentials = options_.credentials,
              .limits = options_.limits,
              .mutations = options_.mutations,
              .seed = options_.seed}),
      moving_(options_.limits, options_.mutations, options_.cleared),
      recorder_(options_.seed, options_.loop.now()),
      requests_(kPoolKept),
      commands_(kPoolKept),
      reparser_(options_.limits) {
  keep_house();
}

Worker::~Worker() {
  if (!stopped_) stop(Error{Code::kUnavailable, "the router ends"});
  options_.loop.forget_turn_end(*this);
}

// ---- orders of the Router ---------------------------------------------------------------------

void Worker::adopt(const ring::RingSnapshot& view) {
  if (stopped_ || (view_ != nullptr && view->epoch() <= view_->epoch())) return;
  view_ = view;
  links_.adopt(*view_);
  recorder_.set_view(view_, options_.loop.now());
  moving_.adopt(*view_, unfinished_);
  release_held();
  options_.adopted(view_->epoch());
}

void Worker::learn(std::shared_ptr<const ServerCommands> commands) {
  router_ = std::make_unique<route::Router>(commands->table(), options_.limits);
  commands_known_ = std::move(commands);
}

void Worker::set_health(NodeId node, const backend::Health& seen) {
  NodeLink* const link = links_.find(node);
  if (link == nullptr) return;
  const Incarnation& life = seen.identity.incarnation;
  link->down = seen.error;
  link->replica = seen.up && !life.run_id.empty() && !seen.identity.primary;
  const backend::Identity* const identity = link->pipe->identity();
  if (!seen.error.empty() || identity == nullptr || !link->pipe->usable()) return;
  const Error why{Code::kUnavailable, "the server has changed its identity"};
  link->lanes->leave_others(life, why);
  if (identity->incarnation != life) link->pipe->reset(why);
}

void Worker::add_client(std::unique_ptr<net::Stream> stream) {
  CHECK(view_ != nullptr && router_ != nullptr);
  if (stopped_) return;
  const std::size_t workers = options_.process->workers.size();
  ClientFacts facts{
      .id = next_client_++ * workers + options_.number,
      .peer = stream->peer(),
      .name = {},
      .since = options_.loop.now(),
      .authenticated = options_.client_password.empty(),
  };
  clients_.push_back(
      std::make_unique<Client>(*this, options_.limits, std::move(stream), std::move(facts)));
  Client& client = *clients_.back();
  client.position = clients_.size() - 1;
  counters().clients.add();
  counters().clients_total.add();
  client.start();
}

void Worker::stop(const Error& why) {
  if (std::exchange(stopped_, true)) return;
  options_.loop.cancel(house_);
  const std::string text = "ERR cleave: " + why.message;
  std::string reply;
  wire::append_error(reply, text);
  while (!clients_.empty()) {
    Client& client = *clients_.back();
    client.answer_directly(reply);
    client.flush(options_.loop.now());
    if (!client.closed()) part_with(client);
  }
  give_up_counting(text);
  for (; !held_.empty(); held_.pop()) {
    deliver_error(*held_.front(), text);
    commands_.put(held_.front());
  }
  links_.clear();
  CHECK(unfinished_.empty());
  touched_.clear();
  graveyard_.clear();
}

std::vector<NodeTraffic> Worker::traffic() const {
  std::vector<NodeTraffic> all;
  for (const auto& link : links_.all()) {
    const backend::PipeStats& stats = link->pipe->stats();
    all.push_back({.node = link->node,
                   .errors = link->errors,
                   .sent = stats.handed,
                   .replies = stats.replies,
                   .queued = stats.queued,
                   .served = stats.served});
  }
  return all;
}

void Worker::break_fence(MoveId move, Epoch phase_epoch) {
  moving_.break_fence(move, phase_epoch);
  release_held();
}

// ---- clients ----------------------------------------------------------------------------------

void Worker::touch(Client& client) {
  if (client.closed() || std::exchange(client.touched, true)) return;
  touched_.push_back(&client);
  if (!std::exchange(turn_asked_, true)) options_.loop.at_turn_end(*this);
}

void Worker::on_turn_end() {
  turn_asked_ = false;
  flushing_.swap(touched_);
  const Instant now = options_.loop.now();
  for (Client* client : flushing_) {
    client->touched = false;
    client->flush(now);
  }
  flushing_.clear();
  graveyard_.clear();
}

void Worker::shed(Client& client, ShedCause cause, const std::string& why) {
  note_shed(client, cause, why);
  part_with(client);
}

void Worker::note_shed(const Client& client, ShedCause cause, const std::string& why) {
  counters().clients_shed[static_cast<std::size_t>(cause)].add();
  last_shed_ = {.at = options_.loop.now(),
                .text = client.facts.peer + " (" + client.facts.name + "): " + why};
}

void Worker::part_with(Client& client) {
  if (client.closed()) return;
  client.close();
  counters().clients.sub();
  std::erase(touched_, &client);
  const std::size_t position = client.position;
  graveyard_.push_back(std::move(clients_[position]));
  if (position + 1 < clients_.size()) {
    clients_[position] = std::move(clients_.back());
    clients_[position]->position = position;
  }
  clients_.pop_back();
  // It may be in the middle of its own callback: it is destroyed at the end of the turn.
  if (!std::exchange(turn_asked_, true)) options_.loop.at_turn_end(*this);
}

// ---- housekeeping -----------------------------------------------------------------------------

void Worker::keep_house() {
  house_ = options_.loop.after(kHousePeriod, [this] {
    const Instant now = options_.loop.now();
    shed_stalled(now);
    give_up_held(now);
    count_without_leader(now);
    links_.sweep();
    keep_house();
  });
}

void Worker::shed_stalled(Instant now) {
  for (std::size_t i = clients_.size(); i > 0; --i) {
    Client& client = *clients_[i - 1];
    client.tick_lingering();
    const Instant since = client.stalled_since();
    if (since == Instant{0} || since + options_.limits.client_stalled_max > now) continue;
    shed(client, ShedCause::kStalled,
         "did not read its replies for " +
             std::to_string(options_.limits.client_stalled_max.count()) + " ms");
  }
}

// The fence stays (rule 11); it is the request that ends.
void Worker::give_up_held(Instant now) {
  while (!held_.empty()) {
    Command& command = *held_.front();
    if (command.held_since + options_.limits.request_timeout > now) return;
    held_.pop();
    held_bytes_ -= command.bytes.size();
    counters().held_now.sub();
    counters().timeouts.add();
    deliver_error(command, "ERR cleave: not executed: its range is on the move and was held for " +
                               std::to_string(options_.limits.request_timeout.count()) + " ms");
    commands_.put(&command);
  }
}

}  // namespace cleave::proxy
