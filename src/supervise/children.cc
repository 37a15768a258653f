#include "supervise/children.h"

#include <signal.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/check.h"
#include "supervise/files.h"
#include "supervise/server.h"
#include "supervise/watcher.h"

namespace cleave::supervise {
namespace {

constexpr milliseconds kStep{10};
constexpr int kPortAttemptsMax = 20;

}  // namespace

class Children::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  Result<void> prepare();
  Result<void> start_all();
  Result<void> stop();
  void watch(net::Loop& loop, std::function<void(const ChildEvent&)> told);
  std::vector<Child> list() const;

 private:
  Result<void> await(Server& server, Instant until);
  // By SIGTERM, which a redis-server takes as SHUTDOWN, then SIGKILL. False: some run on.
  bool end(const std::vector<Server*>& servers);
  bool await_end(const std::vector<Server*>& servers) const;

  const Options options_;
  const SystemClock clock_;
  std::optional<DirectoryLock> lock_;
  std::string program_;
  std::vector<Server> servers_;
  std::unique_ptr<Watcher> watcher_;
};

Result<void> Children::Impl::prepare() {
  Result<std::string> program = find_program(options_.program);
  if (!program)
    return fail(Code::kNotFound,
                program.error().message + "; install it: apt-get install redis-server");
  program_ = std::move(*program);
  if (Result<void> made = make_directory(options_.directory); !made) return made;
  const Result<std::string> directory = real_path(options_.directory);
  if (!directory) return std::unexpected(directory.error());
  Result<DirectoryLock> lock = DirectoryLock::take(*directory);
  if (!lock) return std::unexpected(lock.error());
  lock_ = std::move(*lock);
  for (const std::string& name : options_.names) {
    const auto twice = [&](const Server& other) { return other.child().name == name; };
    if (std::ranges::any_of(servers_, twice))
      return fail(Code::kInvalid, "node '" + name + "' is named twice");
    Result<Server> server = Server::prepare(options_, *directory, name);
    if (!server) return std::unexpected(server.error());
    servers_.push_back(std::move(*server));
  }
  return {};
}

Result<void> Children::Impl::start_all() {
  // First see whether all can be had; only then begin to start any.
  std::vector<Server*> missing;
  for (Server& server : servers_) {
    const Result<bool> adopted = server.adopt();
    if (!adopted) return std::unexpected(adopted.error());
    if (!*adopted) missing.push_back(&server);
  }
  Result<void> result;
  for (Server* server : missing)
    if (result) result = server->spawn(program_);
  const Instant until = clock_.now() + options_.start_max;
  for (Server& server : servers_)
    if (result) result = await(server, until);
  if (result) return result;
  // Those that ran before stay as they were.
  end(missing);
  return result;
}

Result<void> Children::Impl::await(Server& server, Instant until) {
  for (int attempts = 0;;) {
    const Result<bool> ready = server.ready();
    if (ready && *ready) return {};
    if (!ready) {
      const Result<bool> again = server.choose_again();
      if (!again) return std::unexpected(again.error());
      if (!*again || ++attempts > kPortAttemptsMax) return std::unexpected(ready.error());
      if (Result<void> spawned = server.spawn(program_); !spawned) return spawned;
    }
    if (clock_.now() >= until)
      return fail(Code::kTimeout, "node " + server.child().name + ": redis-server at " +
                                      net::to_string(server.child().address) +
                                      " does not answer, or another program does, after " +
                                      std::to_string(options_.start_max.count()) + " ms");
    std::this_thread::sleep_for(kStep);
  }
}

Result<void> Children::Impl::stop() {
  watcher_.reset();
  std::vector<Server*> all;
  for (Server& server : servers_) all.push_back(&server);
  if (end(all)) return {};
  std::string left;
  for (const Server* server : all)
    if (server->running()) left += " " + server->child().name;
  return fail(Code::kTimeout, "these servers run on even after SIGKILL:" + left);
}

bool Children::Impl::end(const std::vector<Server*>& servers) {
  for (Server* server : servers) server->signal(SIGTERM);
  if (await_end(servers)) return true;
  for (Server* server : servers) {
    if (!server->running()) continue;
    options_.log("node " + server->child().name + ": process " +
                 std::to_string(server->child().pid) +
                 " still runs after SIGTERM, sending SIGKILL");
    server->signal(SIGKILL);
  }
  return await_end(servers);
}

bool Children::Impl::await_end(const std::vector<Server*>& servers) const {
  const Instant until = clock_.now() + options_.stop_max;
  for (;;) {
    const auto ended = [](const Server* server) { return !server->running(); };
    if (std::ranges::all_of(servers, ended)) return true;
    if (clock_.now() >= until) return false;
    std::this_thread::sleep_for(kStep);
  }
}

void Children::Impl::watch(net::Loop& loop, std::function<void(const ChildEvent&)> told) {
  CHECK(watcher_ == nullptr);
  watcher_ = std::make_unique<Watcher>(loop, options_, program_, servers_, std::move(told));
}

std::vector<Child> Children::Impl::list() const {
  std::vector<Child> children;
  for (const Server& server : servers_) children.push_back(server.child());
  return children;
}

Result<std::unique_ptr<Children>> Children::start(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (Result<void> prepared = impl->prepare(); !prepared) return std::unexpected(prepared.error());
  if (Result<void> started = impl->start_all(); !started) return std::unexpected(started.error());
  return std::unique_ptr<Children>(new Children(std::move(impl)));
}

Children::Children(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Children::~Children() = default;
std::vector<Child> Children::list() const { return impl_->list(); }
void Children::watch(net::Loop& loop, std::function<void(const ChildEvent&)> told) {
  impl_->watch(loop, std::move(told));
}
Result<void> Children::stop() { return impl_->stop(); }

}  // namespace cleave::supervise
