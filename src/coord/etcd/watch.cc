#include "coord/etcd/watch.h"

#include <utility>

#include "base/guarded.h"

namespace cleave::coord::etcd {
namespace {

// The key's values are small; a longer line is not what we asked for.
constexpr std::size_t kLineBytesMax = std::size_t{8} << 20U;

}  // namespace

Watch::Watch(net::Loop& loop, const EtcdOptions& options, Client& client, Endpoints& endpoints,
             std::string key, Owner owner)
    : loop_(loop),
      client_(client),
      endpoints_(endpoints),
      key_(std::move(key)),
      owner_(std::move(owner)),
      backoff_(options.retry_first, options.retry_max, options.seed + 1) {}

Watch::~Watch() { loop_.cancel(pause_); }

void Watch::start() { step(); }

void Watch::step() {
  // The read also renews the token.
  if (from_ && client_.ready()) return connect();
  owner_.read_fresh(guarded(alive_, [this](const Result<Revision>& revision) {
    if (!revision) return retry();
    from_ = Revision{revision->value() + 1};
    connect();
  }));
}

void Watch::connect() {
  endpoints_.connect(guarded(alive_, [this](Result<Endpoints::Linked> linked) {
    if (!linked) return retry();
    stream(std::move(*linked));
  }));
}

void Watch::stream(Endpoints::Linked linked) {
  link_ = std::move(linked.link);
  which_ = linked.which;
  input_.clear();
  net::HttpAsk ask{.target = "/v3/watch",
                   .headers = {{"content-type", "application/json"}},
                   .body = watch_body(key_, *from_)};
  if (!client_.token().empty()) ask.headers.emplace_back("authorization", client_.token());
  link_->stream(
      ask, [this](std::string_view piece) { on_piece(piece); },
      [this](const Result<net::HttpReply>& ended) {
        // An error in place of a stream, such as of the token.
        if (ended && ended->status != 200) from_.reset();
        retry();
      });
}

void Watch::on_piece(std::string_view piece) {
  input_ += piece;
  if (input_.size() > kLineBytesMax) return retry();
  const std::weak_ptr<void> alive = alive_;
  for (std::size_t end = input_.find('\n'); end != std::string::npos; end = input_.find('\n')) {
    const std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    if (!on_line(line) || alive.expired()) return;
  }
}

// False: this stream is over.
bool Watch::on_line(std::string_view line) {
  const Result<WatchLine> parsed = parse_watch(line);
  if (!parsed || parsed->canceled) {
    from_.reset();
    if (parsed && parsed->compacted == Revision{}) client_.forget_token();
    retry();
    return false;
  }
  backoff_.reset();
  if (parsed->newest != Revision{}) from_ = Revision{parsed->newest.value() + 1};
  const std::weak_ptr<void> alive = alive_;
  for (const std::string& value : parsed->puts) {
    if (alive.expired()) return false;
    owner_.changed(value);
  }
  return !alive.expired() && link_ != nullptr;
}

void Watch::on_bad_endpoint(std::size_t which) {
  if (link_ && which == which_) retry();
}

void Watch::retry() {
  link_.reset();
  if (pause_ != net::TimerId{}) return;
  pause_ = loop_.after(backoff_.next(), [this] {
    pause_ = {};
    step();
  });
}

}  // namespace cleave::coord::etcd
