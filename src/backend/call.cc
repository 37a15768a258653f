#include "backend/call.h"

#include <memory>
#include <utility>

namespace cleave::backend {
namespace {

// Owns itself: it dies with the last thing that the pipe has to say about it.
class Call final : public ReplySink {
 public:
  Call(std::function<void(Result<std::string>)> done, std::function<void()> finished)
      : done_(std::move(done)), finished_(std::move(finished)) {}

  void on_reply(std::string_view raw) override {
    const std::unique_ptr<Call> self(this);
    done_(std::string(raw));
    finish();
  }

  void on_failed(const Error& why, Outcome outcome) override {
    if (outcome == Outcome::kUnknown) return done_(std::unexpected(why));
    const std::unique_ptr<Call> self(this);
    done_(std::unexpected(why));
    finish();
  }

  void on_finished() override {
    const std::unique_ptr<Call> self(this);
    finish();
  }

  void on_dropped() override { const std::unique_ptr<Call> self(this); }

 private:
  void finish() {
    if (finished_) finished_();
  }

  std::function<void(Result<std::string>)> done_;
  std::function<void()> finished_;
};

}  // namespace

void call(Pipe& pipe, std::string_view bytes, ReplyDone done, std::function<void()> finished,
          std::uint32_t replies) {
  const auto parsed = [done = std::move(done)](const Result<std::string>& raw) {
    if (!raw) return done(std::unexpected(raw.error()));
    done(wire::parse_reply(*raw));
  };
  call_raw(pipe, bytes, parsed, std::move(finished), replies);
}

void call_raw(Pipe& pipe, std::string_view bytes, std::function<void(Result<std::string>)> done,
              std::function<void()> finished, std::uint32_t replies) {
  auto sink = std::make_unique<Call>(std::move(done), std::move(finished));
  pipe.send(bytes, *sink.release(), replies);
}

}  // namespace cleave::backend
