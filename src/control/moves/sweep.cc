#include "control/moves/sweep.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "control/document/session_names.h"

namespace cleave::control {
namespace {

constexpr int kPassesMax = 10;

// One sweep under way; owns itself until it has answered.
class Sweeping : public std::enable_shared_from_this<Sweeping> {
 public:
  Sweeping(std::shared_ptr<backend::RedisStore> store, DocumentWriter& writer,
           std::function<void(Result<void>)> done)
      : store_(std::move(store)), writer_(writer), done_(std::move(done)) {
    CHECK(!store_.expired() && done_ != nullptr);
  }

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
    CHECK(passes_ > 0);  // rule 7: the list is older than the read
    writer_.read(
        [self = shared_from_this(), clients = std::move(clients)](Result<SharedDocument> document) {
          if (!document) return self->done_(std::unexpected(document.error()));
          self->kill(strangers(clients, shown_names(**document)));
        });
  }

  void kill(const std::vector<std::string>& ids) {
    if (ids.empty()) return done_({});
    backend::Commands commands;
    CHECK(passes_ > 0 && passes_ <= kPassesMax);
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

void sweep(std::shared_ptr<backend::RedisStore> store, DocumentWriter& writer,
           std::function<void(Result<void>)> done) {
  std::make_shared<Sweeping>(std::move(store), writer, std::move(done))->list();
}

}  // namespace cleave::control
