#include "backend/commands.h"

#include <charconv>
#include <utility>

#include "base/check.h"

namespace cleave::backend {
namespace {

// Sink of all commands of one `run`. It owns itself: commands whose connection was lost keep it
// alive until rule 6 says that they are finished.
class Collector final : public ReplySink {
 public:
  Collector(std::size_t commands, std::weak_ptr<void> alive, RepliesDone done)
      : open_(commands), wanted_(commands), alive_(std::move(alive)), done_(std::move(done)) {
    replies_.reserve(commands);
  }

  void on_reply(std::string_view raw) override {
    Result<wire::Reply> reply = wire::parse_reply(raw);
    if (reply) {
      replies_.push_back(std::move(*reply));
    } else {
      fail_once(reply.error());
    }
    if (replies_.size() == wanted_) answer(std::move(replies_));
    close_one();
  }

  void on_failed(const Error& why, Outcome outcome) override {
    fail_once(why);
    if (outcome == Outcome::kNotSent) close_one();
  }

  void on_finished() override { close_one(); }

  void on_dropped() override { close_one(); }

 private:
  void fail_once(const Error& why) { answer(std::unexpected(why)); }

  void answer(Result<Replies> result) {
    if (!done_) return;
    const RepliesDone done = std::exchange(done_, nullptr);
    if (!alive_.expired()) done(std::move(result));
  }

  void close_one() {
    CHECK(open_ > 0);
    if (--open_ == 0) delete this;
  }

  std::size_t open_;
  std::size_t wanted_;
  std::weak_ptr<void> alive_;
  RepliesDone done_;
  Replies replies_;
};

}  // namespace

std::string_view Commands::command(std::size_t index) const {
  CHECK(index < ends_.size());
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

void run(Pipe& pipe, const Commands& commands, std::weak_ptr<void> alive, RepliesDone done) {
  CHECK(!commands.empty());
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): see Collector.
  auto* collector = new Collector(commands.size(), std::move(alive), std::move(done));
  for (std::size_t i = 0; i < commands.size(); ++i) pipe.send(commands.command(i), *collector);
}

std::string_view info_field(std::string_view info, std::string_view name) {
  while (!info.empty()) {
    const std::size_t end = info.find('\n');
    std::string_view line = info.substr(0, end);
    info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  return {};
}

std::uint64_t info_number(std::string_view info, std::string_view name) {
  return static_cast<std::uint64_t>(to_number(info_field(info, name)));
}

std::int64_t to_number(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace cleave::backend
