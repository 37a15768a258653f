#include "proxy/clients/clients.h"

#include <utility>

namespace cleave::proxy {

Clients::Clients(Options options) : options_(options), requests_(kPoolKept) {}

Clients::~Clients() { options_.loop.forget_turn_end(*this); }

void Clients::add(std::unique_ptr<net::Stream> stream) {
  ClientFacts facts{
      .id = next_client_++ * options_.workers + options_.worker,
      .peer = stream->peer(),
      .name = {},
      .since = options_.loop.now(),
      .authenticated = options_.trusted,
  };
  clients_.push_back(std::make_unique<Client>(*this, std::move(stream), std::move(facts)));
  Client& client = *clients_.back();
  client.position = clients_.size() - 1;
  options_.counters.clients.add();
  options_.counters.clients_total.add();
  client.start();
}

void Clients::tick() {
  const Instant now = options_.loop.now();
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

void Clients::stop(const std::string& text) {
  std::string reply;
  wire::append_error(reply, text);
  while (!clients_.empty()) {
    Client& client = *clients_.back();
    client.answer_directly(reply);
    client.flush(options_.loop.now());
    if (!client.closed()) part_with(client);
  }
  touched_.clear();
}

// ---- answers ----------------------------------------------------------------------------------

Request& Clients::open(Client& client, bool writes) {
  Request& request = *requests_.get(*this);
  request.writes = writes;
  client.push(request);
  return request;
}

void Clients::answer_now(Client& client, std::string_view reply) {
  if (client.idle()) return client.answer_directly(reply);
  client.answer(open(client, /*writes=*/false), reply);
}

void Clients::answer_error(Client& client, std::string_view text) {
  scratch_.clear();
  wire::append_error(scratch_, text);
  answer_now(client, scratch_);
}

void Clients::handle_broken(Client& client, const Error& why) {
  note_shed(client, ShedCause::kProtocol, why.message);
  client.finish_up();
  answer_error(client, "ERR " + why.message);
}

// ---- turns ------------------------------------------------------------------------------------

void Clients::touch(Client& client) {
  if (client.closed() || std::exchange(client.touched, true)) return;
  touched_.push_back(&client);
  if (!std::exchange(turn_asked_, true)) options_.loop.at_turn_end(*this);
}

void Clients::on_turn_end() {
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

// ---- farewells --------------------------------------------------------------------------------

void Clients::shed(Client& client, ShedCause cause, const std::string& why) {
  note_shed(client, cause, why);
  part_with(client);
}

void Clients::note_shed(const Client& client, ShedCause cause, const std::string& why) {
  options_.counters.clients_shed[static_cast<std::size_t>(cause)].add();
  last_shed_ = {.at = options_.loop.now(),
                .text = client.facts.peer + " (" + client.facts.name + "): " + why};
}

void Clients::part_with(Client& client) {
  if (client.closed()) return;
  client.close();
  options_.counters.clients.sub();
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

}  // namespace cleave::proxy
