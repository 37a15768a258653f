#include "control/sweep.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/own_names.h"

namespace cleave::control {
namespace {

constexpr int kPassesMax = 10;

// The value of " name=value" in one line of CLIENT LIST.
std::string_view field(std::string_view line, std::string_view name) {
  std::size_t at = 0;
  while (at < line.size()) {
    std::size_t end = line.find(' ', at);
    if (end == std::string_view::npos) end = line.size();
    const std::string_view word = line.substr(at, end - at);
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=')
      return word.substr(name.size() + 1);
    at = end + 1;
  }
  return {};
}

// One sweep under way; owns itself until it has answered.
class Sweeping : public std::enable_shared_from_this<Sweeping> {
 public:
  Sweeping(std::shared_ptr<backend::RedisStore> store, DocumentWriter& writer,
           std::function<void(Result<void>)> done)
      : store_(std::move(store)), writer_(writer), done_(std::move(done)) {}

  void list() {
    if (++passes_ > kPassesMax)
      return done_(fail(Code::kUnavailable, "old connections come back as fast as they are ended"));
    backend::Commands commands;
    commands.add({"CLIENT", "LIST"});
    run(commands, [self = shared_from_this()](Result<backend::Replies> replies) {
      if (!replies) return self->done_(std::unexpected(replies.error()));
      if (replies->front().is_error())
        return self->done_(fail(Code::kUnavailable, "CLIENT LIST: " + replies->front().text));
      self->read(replies->front().text);
    });
  }

 private:
  void read(std::string clients) {
    writer_.read(
        [self = shared_from_this(), clients = std::move(clients)](Result<SharedDocument> document) {
          if (!document) return self->done_(std::unexpected(document.error()));
          self->kill(strangers(clients, shown_names(**document)));
        });
  }

  void kill(const std::vector<std::string>& ids) {
    if (ids.empty()) return done_({});
    backend::Commands commands;
    for (const std::string& id : ids) commands.add({"CLIENT", "KILL", "ID", id});
    run(commands, [self = shared_from_this()](Result<backend::Replies> replies) {
      if (!replies) return self->done_(std::unexpected(replies.error()));
      for (const wire::Reply& reply : *replies) {
        if (reply.is_error())
          return self->done_(fail(Code::kUnavailable, "CLIENT KILL: " + reply.text));
      }
      self->list();
    });
  }

  // A store that is gone answers nobody: then nobody waits for the sweep any more either.
  void run(const backend::Commands& commands, backend::RepliesDone done) {
    if (const std::shared_ptr<backend::RedisStore> store = store_.lock())
      store->run(commands, std::move(done));
  }

  // Weak: what waits in the store for a reply holds this sweep, and neither would ever go.
  std::weak_ptr<backend::RedisStore> store_;
  DocumentWriter& writer_;
  std::function<void(Result<void>)> done_;
  int passes_ = 0;
};

}  // namespace

std::string connection_name(const SessionId& session) {
  return std::string(kConnectionPrefix) + session.value();
}

SessionId driver_session(const SessionId& router, Term term) {
  return SessionId{router.value() + ".t" + std::to_string(term.value())};
}

std::set<std::string, std::less<>> shown_names(const ring::Document& document) {
  std::set<std::string, std::less<>> names;
  for (const ring::Router& router : document.routers) names.insert(connection_name(router.session));
  const ring::Leader& leader = document.leader;
  names.insert(connection_name(driver_session(leader.session, leader.term)));
  return names;
}

std::vector<std::string> strangers(std::string_view client_list,
                                   const std::set<std::string, std::less<>>& shown) {
  std::vector<std::string> ids;
  while (!client_list.empty()) {
    const std::size_t end = client_list.find('\n');
    const std::string_view line = client_list.substr(0, end);
    client_list.remove_prefix(end == std::string_view::npos ? client_list.size() : end + 1);
    const std::string_view name = field(line, "name");
    if (name.starts_with(kConnectionPrefix) && !shown.contains(name))
      ids.emplace_back(field(line, "id"));
  }
  return ids;
}

void sweep(std::shared_ptr<backend::RedisStore> store, DocumentWriter& writer,
           std::function<void(Result<void>)> done) {
  std::make_shared<Sweeping>(std::move(store), writer, std::move(done))->list();
}

}  // namespace cleave::control
