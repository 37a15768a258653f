#include "peer/http_peer.h"

#include <utility>

#include "net/http.h"
#include "peer/messages.h"

namespace cleave::peer {
namespace {

// A dirty set at its bound (Limits::dirty_keys_max) of long keys.
constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 20U;

// Gives the answer's bytes to `read` and what that gives to `done`.
template <class T>
std::function<void(Result<std::string>)> reading(Result<T> (*read)(std::string_view),
                                                 RouterPeer::Done<T> done) {
  return [read, done = std::move(done)](const Result<std::string>& bytes) {
    if (!bytes) return done(std::unexpected(bytes.error()));
    done(read(*bytes));
  };
}

}  // namespace

void HttpPeer::ask(std::string_view name, std::string question,
                   std::function<void(Result<std::string>)> done) {
  net::HttpCall call{.address = options_.address,
                     .method = "POST",
                     .target = std::string(kPathStart) + std::string(name),
                     .headers = {{"content-type", "application/msgpack"}},
                     .body = std::move(question),
                     .timeout = kPatience,
                     .response_bytes_max = kAnswerBytesMax};
  if (!options_.token.empty())
    call.headers.emplace_back("authorization", "Bearer " + options_.token);
  const std::string whom =
      "router " + options_.session.value() + " at " + net::to_string(options_.address);
  net::http_request(options_.loop, std::move(call),
                    [whom, done = std::move(done)](Result<net::HttpReply> reply) {
                      if (!reply) return done(fail(whom, reply.error()));
                      if (reply->status == 200) return done(std::move(reply->body));
                      if (reply->status == 401)
                        return done(fail(Code::kInvalid, whom + ": it has another admin token"));
                      done(fail(whom, read_error(reply->body)));
                    });
}

void HttpPeer::await_copying(MoveId move, Epoch phase_epoch, Done<void> done) {
  ask(kAwaitCopying,
      write_question({.to = options_.session, .move = move, .phase_epoch = phase_epoch}),
      [done = std::move(done)](const Result<std::string>& bytes) {
        if (!bytes) return done(std::unexpected(bytes.error()));
        done({});
      });
}

void HttpPeer::take(MoveId move, Epoch phase_epoch, const TakeOrder& order, Done<DirtyBatch> done) {
  ask(kTake,
      write_question({.to = options_.session,
                      .move = move,
                      .phase_epoch = phase_epoch,
                      .number = order.number,
                      .watch = order.watch}),
      reading(read_batch, std::move(done)));
}

void HttpPeer::await_fenced(MoveId move, Epoch phase_epoch, Done<FencedAck> done) {
  ask(kAwaitFenced,
      write_question({.to = options_.session, .move = move, .phase_epoch = phase_epoch}),
      reading(read_fenced, std::move(done)));
}

void HttpPeer::take_heat(const heat::CommandPrices& prices, Done<std::vector<heat::Report>> done) {
  ask(kTakeHeat, write_question({.to = options_.session, .prices = prices}),
      reading(read_reports, std::move(done)));
}

void HttpPeer::count_keys(Done<std::uint64_t> done) {
  ask(kCountKeys, write_question({.to = options_.session}), reading(read_count, std::move(done)));
}

}  // namespace cleave::peer
