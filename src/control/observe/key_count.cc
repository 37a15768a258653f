#include "control/observe/key_count.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/own_names.h"

namespace cleave::control {
namespace {

constexpr int kTriesMax = 3;

// One count under way.
struct Counting {
  std::vector<KeyCountOf> servers;
  std::shared_ptr<CopyCounts> copies;
  std::function<void(Result<std::uint64_t>)> done;
  std::uint64_t commits = 0;
  std::size_t open = 0;
  std::uint64_t sum = 0;
  std::optional<Error> failed = {};
  int tries = 0;
};

void ask(const std::shared_ptr<Counting>& counting);

void finish(const std::shared_ptr<Counting>& counting) {
  CHECK(counting->open == 0);
  if (counting->failed) return counting->done(std::unexpected(*counting->failed));
  if (counting->commits == counting->copies->commits()) return counting->done(counting->sum);
  if (++counting->tries < kTriesMax) return ask(counting);
  counting->done(fail(Code::kUnavailable, "moves are committed faster than keys are counted"));
}

void take(Counting& counting, NodeId node, const Result<backend::Replies>& replies) {
  if (!replies) {
    counting.failed = replies.error();
    return;
  }
  for (const wire::Reply& reply : *replies) {
    if (reply.is_error()) counting.failed = Error{Code::kUnavailable, reply.text};
  }
  CHECK(replies->size() == 2);  // DBSIZE and EXISTS
  const auto keys = static_cast<std::uint64_t>(replies->front().integer);
  const auto own = static_cast<std::uint64_t>(replies->back().integer);
  counting.sum += counting.copies->without_copies(node, keys - std::min(keys, own));
}

void ask(const std::shared_ptr<Counting>& counting) {
  counting->commits = counting->copies->commits();
  counting->sum = 0;
  CHECK(counting->open == 0 && !counting->servers.empty());
  counting->open = counting->servers.size();
  backend::Commands commands;
  commands.add({"DBSIZE"});
  std::vector<std::string_view> lasting{"EXISTS"};
  lasting.insert(lasting.end(), kLastingKeys.begin(), kLastingKeys.end());
  commands.add(lasting);
  for (const KeyCountOf& server : counting->servers) {
    const std::shared_ptr<backend::RedisStore> store = server.store.lock();
    if (store == nullptr) return;  // the term has ended
    store->run(commands, [counting, node = server.node](Result<backend::Replies> replies) {
      CHECK(counting->open > 0);
      take(*counting, node, replies);
      if (--counting->open == 0) finish(counting);
    });
  }
}

}  // namespace

void count_keys(std::vector<KeyCountOf> servers, std::shared_ptr<CopyCounts> copies,
                std::function<void(Result<std::uint64_t>)> done) {
  ask(std::make_shared<Counting>(Counting{
      .servers = std::move(servers), .copies = std::move(copies), .done = std::move(done)}));
}

}  // namespace cleave::control
