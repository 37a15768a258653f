#include "proxy/servers/lanes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "backend/call.h"
#include "base/check.h"
#include "base/to_number.h"
#include "proxy/commands/command.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

// Connections of one worker to one node; more requests wait their turn.
constexpr std::size_t kLanesMax = 4;
// An idle one is closed after this.
constexpr milliseconds kIdleMax{10'000};

// What a server says how much it takes; the same words in every version.
constexpr std::array<std::string_view, 2> kServerLimits{"proto-max-bulk-len",
                                                        "client-query-buffer-limit"};
// A query buffer holds the line end behind an argument too.
constexpr std::size_t kLineEnd = 2;

// How the server begins the last thing that it says on a connection.
constexpr std::string_view kLastWords = "-ERR Protocol error";

std::size_t largest_argument(std::string_view raw) {
  wire::RequestParser parser{Limits{}};
  wire::Request request;
  const Result<std::size_t> size = parser.parse(raw, request);
  std::size_t largest = 0;
  if (!size) return largest;
  for (const std::string_view arg : request.args) largest = std::max(largest, arg.size());
  return largest;
}

// "name value" as CONFIG GET answers; nullopt: it does not say.
std::optional<std::size_t> limit_of(const wire::Reply& reply) {
  if (reply.type != wire::Reply::Type::kArray || reply.elements.size() != 2) return std::nullopt;
  return to_number<std::size_t>(reply.elements[1].text);
}

}  // namespace

// ---- one connection ---------------------------------------------------------------------------

class Lanes::Lane final : public backend::ReplySink {
 public:
  Lane(Lanes& lanes, std::unique_ptr<backend::Pipe> pipe)
      : lanes_(lanes), pipe_(std::move(pipe)), used_at_(lanes.options_.loop.now()) {}
  ~Lane() override {
    pipe_.reset();  // tells on_dropped
    if (Command* const command = std::exchange(command_, nullptr)) command->on_dropped();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  bool is_free() const { return command_ == nullptr; }
  bool is_idle() const { return is_free() && pipe_->unfinished() == 0; }
  Instant used_at() const { return used_at_; }
  backend::Pipe& pipe() { return *pipe_; }

  void begin(Job job);

  void on_reply(std::string_view raw) override;
  void on_failed(const Error& why, backend::Outcome outcome) override;
  void on_finished() override;
  void on_dropped() override {
    if (Command* const command = std::exchange(command_, nullptr)) command->on_dropped();
  }

 private:
  void ask(std::string_view name);
  void take_answer(std::string_view name, const Result<wire::Reply>& reply);
  void send_or_refuse();
  Command& release();

  Lanes& lanes_;
  std::unique_ptr<backend::Pipe> pipe_;
  Command* command_ = nullptr;  // nullptr: free
  std::string bytes_;
  std::size_t size_ = 0;     // of the request
  std::size_t largest_ = 0;  // of its arguments
  std::size_t missing_ = 0;  // answers about the server's limits
  std::optional<Error> refusal_;
  Instant used_at_;
};

void Lanes::Lane::begin(Job job) {
  command_ = job.command;
  command_->pipe = pipe_.get();
  bytes_ = std::move(job.bytes);
  size_ = bytes_.size();
  refusal_.reset();
  if (!lanes_.may_ask_) return send_or_refuse();
  largest_ = largest_argument(bytes_);
  missing_ = kServerLimits.size();
  for (const std::string_view name : kServerLimits) ask(name);
}

// The callbacks die with the pipe, and that with the lane.
void Lanes::Lane::ask(std::string_view name) {
  backend::call(*pipe_, wire::command({"CONFIG", "GET", name}),
                [this, name](const Result<wire::Reply>& reply) { take_answer(name, reply); });
}

void Lanes::Lane::take_answer(std::string_view name, const Result<wire::Reply>& reply) {
  if (!reply) {
    refusal_ = reply.error();
  } else if (reply->is_error()) {
    lanes_.may_ask_ = false;  // not allowed to: then the server itself says what is too large
  } else if (const auto limit = limit_of(*reply); limit && largest_ + kLineEnd > *limit) {
    refusal_ = Error{Code::kExhausted, "the server takes at most " + std::to_string(*limit) +
                                           " bytes in one argument (its " + std::string(name) +
                                           "), and this has " + std::to_string(largest_) +
                                           "; the command was not sent"};
  }
  if (--missing_ == 0) send_or_refuse();
}

void Lanes::Lane::send_or_refuse() {
  if (!refusal_) {
    pipe_->send(bytes_, *this, command_->replies);
    std::string().swap(bytes_);
    return;
  }
  const Error why = *refusal_;
  release().on_failed(why, backend::Outcome::kNotSent);
  lanes_.fill();
}

// The lane is free again.
Command& Lanes::Lane::release() {
  lanes_.bytes_ -= std::exchange(size_, 0);
  std::string().swap(bytes_);
  used_at_ = lanes_.options_.loop.now();
  return *std::exchange(command_, nullptr);
}

void Lanes::Lane::on_reply(std::string_view raw) {
  const bool last = raw.starts_with(kLastWords);
  release().on_reply(raw);
  // The server will close it: the next request must not be on it.
  if (last) pipe_->reset(Error{Code::kUnavailable, "the server refused a request by its size"});
  lanes_.fill();
}

void Lanes::Lane::on_failed(const Error& why, backend::Outcome outcome) {
  Error told = why;
  if (why.code == Code::kUnavailable && outcome == backend::Outcome::kUnknown) {
    told.message += " (while a request of " + std::to_string(size_) +
                    " bytes was on its way: the server may take less, see its "
                    "client-query-buffer-limit and proto-max-bulk-len)";
  }
  if (outcome == backend::Outcome::kUnknown) return command_->on_failed(told, outcome);
  release().on_failed(told, outcome);
  lanes_.fill();
}

void Lanes::Lane::on_finished() {
  release().on_finished();
  lanes_.fill();
}

// ---- all of a node ----------------------------------------------------------------------------

Lanes::Lanes(Options options) : options_(std::move(options)) {}

Lanes::~Lanes() {
  lanes_.clear();
  for (const Job& job : std::exchange(waiting_, {})) job.command->on_dropped();
}

void Lanes::send(std::string_view raw, Command& command) {
  CHECK(!full());
  bytes_ += raw.size();
  waiting_.push_back({.command = &command, .bytes = std::string(raw)});
  fill();
}

void Lanes::fill() {
  while (!waiting_.empty()) {
    Lane* const lane = free_lane();
    if (lane == nullptr) return;
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    lane->begin(std::move(job));
  }
}

Lanes::Lane* Lanes::free_lane() {
  for (const auto& lane : lanes_) {
    if (lane->is_free()) return lane.get();
  }
  if (lanes_.size() >= kLanesMax) return nullptr;
  lanes_.push_back(std::make_unique<Lane>(*this, options_.open()));
  return lanes_.back().get();
}

bool Lanes::idle() const {
  return waiting_.empty() &&
         std::ranges::all_of(lanes_, [](const auto& lane) { return lane->is_idle(); });
}

void Lanes::sweep() {
  const Instant now = options_.loop.now();
  std::erase_if(lanes_, [now](const auto& lane) {
    return lane->is_idle() && lane->used_at() + kIdleMax <= now;
  });
  if (lanes_.empty()) may_ask_ = true;
}

void Lanes::leave_others(const Incarnation& seen, const Error& why) {
  for (const auto& lane : lanes_) {
    const backend::Identity* const identity = lane->pipe().identity();
    if (identity == nullptr || !lane->pipe().usable() || identity->incarnation == seen) continue;
    lane->pipe().reset(why);
  }
}

}  // namespace cleave::proxy
