#include "backend/call.h"

#include <memory>
#include <utility>

namespace cleave::backend {
namespace {

// Owns itself: it dies with the last thing that the pipe has to say about it.
class Call final : public ReplySink {
 public:
  Call(ReplyDone done, std::function<void()> finished)
      : done_(std::move(done)), finished_(std::move(finished)) {}

  void on_reply(std::string_view raw) override {
    const std::unique_ptr<Call> self(this);
    done_(wire::parse_reply(raw));
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

  ReplyDone done_;
  std::function<void()> finished_;
};

}  // namespace

void call(Pipe& pipe, std::string_view bytes, ReplyDone done, std::function<void()> finished,
          std::uint32_t replies) {
  auto sink = std::make_unique<Call>(std::move(done), std::move(finished));
  pipe.send(bytes, *sink.release(), replies);
}

}  // namespace cleave::backend
