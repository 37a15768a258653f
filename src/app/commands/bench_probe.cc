#include "app/commands/bench_probe.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "wire/reply_scanner.h"
#include "wire/writer.h"

namespace cleave::app {
namespace {

constexpr milliseconds kProbeConnectTimeout{2'000};
constexpr milliseconds kReplyTimeout{3'000};

class Probe final : public net::StreamEvents {
 public:
  Probe(net::AsioLoop& loop, std::string password) : loop_(loop), password_(std::move(password)) {}

  Result<void> run(const net::Address& address) {
    loop_.connect(address, kProbeConnectTimeout, [this](auto stream) {
      if (!stream) return end(std::unexpected(stream.error()));
      stream_ = std::move(*stream);
      stream_->start(*this);
      ask();
    });
    timer_ = loop_.after(kProbeConnectTimeout + kReplyTimeout, [this] {
      end(fail(Code::kUnavailable, "it took the connection and did not answer a PING"));
    });
    loop_.run();
    loop_.cancel(timer_);
    stream_.reset();
    return result_;
  }

  void on_bytes(std::string_view bytes) override {
    unread_ += bytes;
    while (waited_ > 0) {
      const auto size = scanner_.scan(unread_);
      if (!size) return end(fail(Code::kUnavailable, "it does not speak Redis' protocol"));
      if (*size == 0) return;
      const std::string_view reply = std::string_view(unread_).substr(0, *size);
      if (reply.starts_with('-')) {
        return end(fail(Code::kUnavailable, std::string(reply.substr(1, reply.find('\r') - 1))));
      }
      unread_.erase(0, *size);
      if (--waited_ == 0) end({});
    }
  }

  void on_closed(const Error& why) override { end(std::unexpected(why)); }

 private:
  void ask() {
    std::string bytes;
    if (!password_.empty()) {
      wire::append_command(bytes, std::array<std::string_view, 2>{"AUTH", password_});
      ++waited_;
    }
    wire::append_command(bytes, std::array<std::string_view, 1>{"PING"});
    ++waited_;
    stream_->send(bytes);
  }

  void end(Result<void> result) {
    if (!std::exchange(ended_, true)) result_ = std::move(result);
    loop_.stop();
  }

  net::AsioLoop& loop_;
  std::string password_;
  std::unique_ptr<net::Stream> stream_;
  wire::ReplyScanner scanner_{Limits{}};
  std::string unread_;
  int waited_ = 0;  // replies
  net::TimerId timer_{};
  Result<void> result_;
  bool ended_ = false;
};

}  // namespace

Result<void> probe_for_load(net::AsioLoop& loop, const net::Address& address,
                            const std::string& password) {
  return Probe(loop, password).run(address);
}

}  // namespace cleave::app
