#include "backend/piece_copy.h"

#include <algorithm>

#include "backend/refusal.h"

namespace cleave::backend {

PieceCopy::PieceCopy(BigCopying ends, Item item, Done done)
    : ends_(std::move(ends)),
      item_(std::move(item)),
      hidden_(std::string(kMovePrefix) + ":" + item_.key),
      done_(std::move(done)),
      began_(ends_.loop.now()) {}

void PieceCopy::ask_all(End end, const Commands& commands, Then then) {
  store(end).run(
      commands, [self = shared_from_this(), end, then = std::move(then)](Result<Replies> replies) {
        if (self->ends_.alive.expired()) return;
        if (!replies) return self->failed(end, replies.error());
        if (const wire::Reply* said = self->refusal(*replies))
          return self->failed(end, {Code::kUnavailable, "a piece was refused: " + said->text});
        then(std::move(*replies));
      });
}

void PieceCopy::ask(End end, const Commands& commands, Then then) {
  ask_all(end, commands, [this, end, then = std::move(then)](Replies replies) {
    for (const wire::Reply& reply : replies) {
      if (!reply.is_error()) continue;
      if (end == End::kSource) return became_other();
      return stay("the destination refused a piece of it: " + reply.text);
    }
    then(std::move(replies));
  });
}

const wire::Reply* PieceCopy::refusal(const Replies& replies) const {
  for (const wire::Reply& reply : replies) {
    if (optional_ && reply.is_error() && reply.text.starts_with("ERR unknown command")) continue;
    if (const wire::Reply* said = server_refusal({&reply, 1})) return said;
  }
  return nullptr;
}

std::size_t PieceCopy::piece_bytes() const {
  constexpr std::size_t kPiecesMin = 8;
  return std::clamp<std::size_t>(ends_.limits.big_value_bytes / kPiecesMin, 1, kPieceBytesMax);
}

void PieceCopy::fit_pieces(std::uint64_t mean_bytes) {
  const std::uint64_t fit = std::clamp<std::uint64_t>(
      piece_bytes() / std::max<std::uint64_t>(mean_bytes, 1), 1, kPieceElementsMax);
  elements_ = elements_ == 0 ? fit : std::min(fit, elements_ * 2);
}

bool PieceCopy::too_large(std::uint64_t bytes) {
  if (bytes <= ends_.element_bytes_max) return false;
  // The destination's own bound may be the lower one.
  const bool configured = ends_.element_bytes_max >= ends_.limits.element_bytes_max;
  stay("it has an element of " + std::to_string(bytes) + " bytes, more than " +
       (configured ? "limits.element_bytes_max, " : "the destination's proto-max-bulk-len, ") +
       std::to_string(ends_.element_bytes_max));
  return true;
}

void PieceCopy::take_expiry(std::int64_t left_ms, const wire::Reply& time) {
  if (left_ms >= 0 && time.elements.size() == 2) expires_at_ms_ = milliseconds_of(time) + left_ms;
}

std::int64_t PieceCopy::milliseconds_of(const wire::Reply& time) {
  if (time.elements.size() != 2) return 0;
  return to_number(time.elements[0].text) * 1'000 + to_number(time.elements[1].text) / 1'000;
}

void PieceCopy::go_on(nanoseconds wait) {
  if (last_) return finish();
  if (wait <= nanoseconds{0}) return read_piece();
  waited_ += wait;
  ends_.loop.after(wait, [self = shared_from_this()] {
    if (!self->ends_.alive.expired()) self->read_piece();
  });
}

void PieceCopy::finish() {
  Commands commands;
  commands.add({"TYPE", item_.key});
  ask(End::kSource, commands, [this](const Replies& replies) {
    if (bytes_ == 0 || replies.front().text != type_) return became_other();
    put_in_place();
  });
}

void PieceCopy::became_other() {
  Commands commands;
  commands.add({"UNLINK", hidden_});
  ask_all(End::kDestination, commands, [this](const Replies&) { answer({.changed = true}); });
}

// UNLINK frees a former copy in the background; RENAME over it would do so before it answers.
void PieceCopy::put_in_place() {
  Commands commands;
  const std::string at = std::to_string(expires_at_ms_);
  if (expires_at_ms_ > 0) commands.add({"PEXPIREAT", hidden_, at});
  commands.add({"UNLINK", item_.key});
  commands.add({"RENAME", hidden_, item_.key});
  ask_all(End::kDestination, commands, [this](const Replies& replies) {
    // Its time has come, or that of its last field: it is absent at both ends.
    const wire::Reply& renamed = replies.back();
    if (renamed.is_error() && !renamed.text.starts_with("ERR no such key"))
      return stay("the destination refused to name it: " + renamed.text);
    const std::int64_t before = replies[replies.size() - 2].integer;
    answer({.bytes = bytes_,
            .more_keys = (renamed.is_error() ? 0 : 1) - before,
            .type = type_,
            .expires_at_ms = expires_at_ms_});
  });
}

void PieceCopy::stay(std::string reason) {
  Commands commands;
  commands.add({"UNLINK", hidden_});
  ask_all(End::kDestination, commands,
          [this, reason = std::move(reason)](const Replies&) { answer({.unmovable = reason}); });
}

void PieceCopy::failed(End at, const Error& why) {
  answer({.failure = BigCopy::Failure{.at = at, .why = why}});
}

void PieceCopy::answer(BigCopy copy) {
  copy.more_keys += more_keys_;
  copy.busy = ends_.loop.now() - began_ - waited_;
  done_(std::move(copy));
}

}  // namespace cleave::backend
