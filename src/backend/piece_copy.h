// PieceCopy: what copying a big value in pieces needs whatever its type: asking the two servers,
// with what they say of themselves told from what they say of the value; the hidden key; its
// renaming at the end.
//
// For the files of this folder. It owns itself until it has answered. Threads: the stores' loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/big_value.h"

namespace cleave::backend {

class PieceCopy : public std::enable_shared_from_this<PieceCopy> {
 public:
  virtual ~PieceCopy() = default;

 protected:
  using Then = std::function<void(Replies)>;
  using Done = std::function<void(BigCopy)>;

  static constexpr std::size_t kPieceBytesMax = std::size_t{1} << 20U;
  static constexpr std::size_t kPieceElementsMax = 2'000;

  PieceCopy(BigCopying ends, Item item, Done done);

  // Goes on with replies that may have errors; what is said of a server ends the copy.
  void ask_all(End end, const Commands& commands, Then then);
  // Goes on when there is no error. At the source one that is said of the value means that it
  // became something else meanwhile.
  void ask(End end, const Commands& commands, Then then);

  // A piece is small beside what is too big for one.
  std::size_t piece_bytes() const;
  // So many elements make about one piece. After a piece of larger ones fewer are asked for at
  // once, after one of smaller ones more by and by.
  void fit_pieces(std::uint64_t mean_bytes);
  // True: it was answered that the key stays.
  bool too_large(std::uint64_t bytes);
  // TIME's reply.
  static std::int64_t milliseconds_of(const wire::Reply& time);
  // PTTL's reply and TIME's.
  void take_expiry(std::int64_t left_ms, const wire::Reply& time);

  // The next piece, when the budget allows, or the end.
  void go_on(nanoseconds wait);
  virtual void read_piece() = 0;
  // All was written: names it, unless the key went meanwhile (its time came, or a cache evicted
  // it): what was copied of it is no value then.
  void finish();
  // It is something else now, or gone: what was written of it is of no use.
  void became_other();
  // It stays where it is.
  void stay(std::string reason);
  void answer(BigCopy copy);
  // For another copy that goes on in place of this one.
  Done take_done() { return std::move(done_); }

  BigCopying ends_;
  Item item_;
  std::string hidden_;
  std::string_view type_;       // as TYPE has it
  std::uint64_t elements_ = 0;  // a piece
  std::uint64_t bytes_ = 0;     // written
  bool optional_ = false;       // the server need not know the command that it is asked
  bool last_ = false;           // no piece comes after this one
  std::int64_t expires_at_ms_ = 0;
  std::int64_t more_keys_ = 0;  // that the destination has by what was written so far

 private:
  RedisStore& store(End end) { return end == End::kSource ? ends_.source : ends_.destination; }
  const wire::Reply* refusal(const Replies& replies) const;
  void put_in_place();
  void failed(End at, const Error& why);

  Done done_;
  Instant began_{0};
  nanoseconds waited_{0};
};

// A stream (backend/big_stream.cc). `time_left_ms` and `time` are PTTL's and TIME's replies.
void copy_stream(BigCopying ends, const Item& item, std::int64_t time_left_ms,
                 const wire::Reply& time, std::function<void(BigCopy)> done);

}  // namespace cleave::backend
