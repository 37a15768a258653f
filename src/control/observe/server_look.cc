#include "control/observe/server_look.h"

#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/own_names.h"

namespace cleave::control {
namespace {

constexpr std::string_view kLook = "look.";

// The value of " name=value" in one line of CLIENT LIST.
std::string_view word_of(std::string_view line, std::string_view name) {
  const std::string wanted = " " + std::string(name) + "=";
  const std::size_t at = line.find(wanted);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + wanted.size());
  return line.substr(0, line.find(' '));
}

}  // namespace

std::vector<std::string> routers_at_work(std::string_view client_list) {
  std::vector<std::string> found;
  while (!client_list.empty()) {
    const std::size_t end = client_list.find('\n');
    const std::string_view line = client_list.substr(0, end);
    client_list.remove_prefix(end == std::string_view::npos ? client_list.size() : end + 1);
    const std::string_view name = word_of(line, "name");
    if (!name.starts_with(kConnectionPrefix)) continue;
    if (name.substr(kConnectionPrefix.size()).starts_with(kLook)) continue;
    found.push_back(std::string(name) + " from " + std::string(word_of(line, "addr")));
  }
  return found;
}

Result<void> nobody_at_work(const std::vector<FoundServer>& found) {
  for (const FoundServer& server : found) {
    if (server.routers.empty()) continue;
    return fail(Code::kConflict, "a router is at work on " + server.node + " (" + server.address +
                                     "): " + server.routers.front() +
                                     ". Stop the routers of the ring that the servers belong to "
                                     "first, or there are two rings for the same keys");
  }
  return {};
}

ServerLook::ServerLook(Options options)
    : options_(std::move(options)),
      gate_(options_.loop, SessionId{std::string(kLook) + options_.session.value()}) {
  Rng rng(options_.seed);
  for (const ring::Node& node : options_.nodes) {
    const std::string text = node.members.empty() ? "" : node.members.front().address;
    const Result<net::Address> address = net::parse_address(text);
    found_.push_back({.node = node.name,
                      .address = text,
                      .error = address ? "not asked yet" : address.error().message});
    stores_.push_back(address ? std::make_unique<backend::RedisStore>(
                                    options_.loop, gate_, Rng{rng.next()},
                                    backend::Pipe::Options{.address = *address,
                                                           .credentials = options_.credentials,
                                                           .limits = options_.limits,
                                                           .on_state = [](bool) {}})
                              : nullptr);
  }
}

void ServerLook::ask(Done done) {
  CHECK(done != nullptr && stores_.size() == found_.size());
  waiting_.push_back(std::move(done));
  if (open_ > 0) return;
  open_ = 1;  // held until all are asked, so that it cannot end in between
  for (std::size_t i = 0; i < stores_.size(); ++i) {
    if (stores_[i] == nullptr) continue;
    ++open_;
    stores_[i]->facts(guarded(alive_, [this, i](const Result<backend::StoreFacts>& facts) {
      FoundServer& found = found_[i];
      found = {.node = found.node, .address = found.address, .error = ""};
      if (!facts) {
        found.error = facts.error().message;
        return answered();
      }
      found.mark = facts->identity.mark;
      found.note = facts->identity.note;
      found.keys = facts->keys;
      found.version = facts->version;
      ask_clients(i);
    }));
  }
  options_.loop.post(guarded(alive_, [this] { answered(); }));
}

void ServerLook::ask_clients(std::size_t index) {
  CHECK(index < stores_.size() && stores_[index] != nullptr);
  backend::Commands commands;
  commands.add({"CLIENT", "LIST"});
  stores_[index]->run(commands, guarded(alive_, [this, index](Result<backend::Replies> replies) {
                        // A user without this right is told when a move needs it.
                        if (replies && !replies->front().is_error())
                          found_[index].routers = routers_at_work(replies->front().text);
                        answered();
                      }));
}

void ServerLook::answered() {
  CHECK(open_ > 0);
  if (--open_ > 0) return;
  const std::weak_ptr<void> alive = alive_;
  for (const Done& done : std::exchange(waiting_, {})) {
    if (!alive.expired()) done(found_);
  }
}

}  // namespace cleave::control
