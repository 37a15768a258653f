#include "backend/big_value.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/refusal.h"

namespace cleave::backend {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::size_t kPieceElementsMax = 2'000;
// Hashes of so many fields are read by a list of their names and sizes: an element that is too
// large is then found without being read.
constexpr std::int64_t kListedFieldsMax = 10'000;

// How a type is read piece by piece and what writes a piece. `cursor` types use the *SCAN family:
// the reply is [cursor, elements].
struct PieceReader {
  std::string_view type;
  std::string_view count;
  std::string_view read;
  std::string_view write;
  bool cursor;
  std::size_t stride;  // arguments of one element
};
constexpr PieceReader kReaders[] = {
    {"string", "STRLEN", "GETRANGE", "APPEND", false, 1},
    {"list", "LLEN", "LRANGE", "RPUSH", false, 1},
    {"hash", "HLEN", "HSCAN", "HSET", true, 2},
    {"set", "SCARD", "SSCAN", "SADD", true, 1},
    {"zset", "ZCARD", "ZSCAN", "ZADD", true, 2},
};

const PieceReader* reader_of(std::string_view type) {
  for (const PieceReader& reader : kReaders) {
    if (reader.type == type) return &reader;
  }
  return nullptr;
}

// The elements of one piece, as its write command takes them.
using Arguments = std::vector<std::string>;

std::uint64_t bytes_of(const Arguments& arguments) {
  std::uint64_t bytes = 0;
  for (const std::string& each : arguments) bytes += each.size();
  return bytes;
}

// One copy under way; owns itself until it has answered.
class Copying : public std::enable_shared_from_this<Copying> {
 public:
  Copying(BigCopying ends, const Item& item, std::function<void(BigCopy)> done)
      : ends_(std::move(ends)),
        item_(item),
        done_(std::move(done)),
        hidden_(std::string(kMovePrefix) + ":" + item.key) {}

  void begin() {
    began_ = ends_.loop.now();
    Commands commands;
    commands.add({"TYPE", item_.key});
    commands.add({"PTTL", item_.key});
    commands.add({"TIME"});
    ask(End::kSource, commands, [this](Replies replies) {
      if (replies[0].text == "none") return answer({.changed = true});
      reader_ = reader_of(replies[0].text);
      if (reader_ == nullptr) {
        return stay("a value of type " + replies[0].text + " with " + std::to_string(item_.bytes) +
                    " bytes cannot be copied in pieces");
      }
      take_expiry(replies[1].integer, replies[2]);
      count_elements();
    });
  }

 private:
  using Then = std::function<void(Replies)>;

  RedisStore& store(End end) { return end == End::kSource ? ends_.source : ends_.destination; }

  // Goes on with replies that may have errors; what is said of a server ends the copy.
  void ask_all(End end, const Commands& commands, Then then) {
    store(end).run(commands, [self = shared_from_this(), end,
                              then = std::move(then)](Result<Replies> replies) {
      if (self->ends_.alive.expired()) return;
      if (!replies) return self->failed(end, replies.error());
      if (const wire::Reply* said = self->refusal(*replies))
        return self->failed(end, {Code::kUnavailable, "a piece was refused: " + said->text});
      then(std::move(*replies));
    });
  }

  // Goes on when there is no error. At the source one that is said of the value means that it
  // became something else meanwhile.
  void ask(End end, const Commands& commands, Then then) {
    ask_all(end, commands, [this, end, then = std::move(then)](Replies replies) {
      for (const wire::Reply& reply : replies) {
        if (!reply.is_error()) continue;
        if (end == End::kSource) return answer({.changed = true});
        return stay("the destination refused a piece of it: " + reply.text);
      }
      then(std::move(replies));
    });
  }

  // A server that does not know a command is only asked for one that it need not know.
  const wire::Reply* refusal(const Replies& replies) const {
    for (const wire::Reply& reply : replies) {
      if (optional_ && reply.is_error() && reply.text.starts_with("ERR unknown command")) continue;
      if (const wire::Reply* said = server_refusal({&reply, 1})) return said;
    }
    return nullptr;
  }

  void take_expiry(std::int64_t left_ms, const wire::Reply& time) {
    if (left_ms < 0 || time.elements.size() != 2) return;
    expires_at_ms_ = to_number(time.elements[0].text) * 1'000 +
                     to_number(time.elements[1].text) / 1'000 + left_ms;
  }

  void count_elements() {
    Commands commands;
    commands.add({reader_->count, item_.key});
    ask(End::kSource, commands, [this](Replies replies) {
      const auto count =
          static_cast<std::uint64_t>(std::max<std::int64_t>(replies.front().integer, 1));
      fit_pieces(item_.bytes / count);
      Commands clear;
      clear.add({"UNLINK", hidden_});
      const bool listed = reader_->type == "hash" && replies.front().integer <= kListedFieldsMax;
      ask(End::kDestination, clear,
          [this, listed](const Replies&) { listed ? list_fields() : read_piece(); });
    });
  }

  // So many elements make about one piece. After a piece of larger ones fewer are asked for at
  // once, after one of smaller ones more by and by.
  void fit_pieces(std::uint64_t mean_bytes) {
    const std::uint64_t fit = std::clamp<std::uint64_t>(
        kPieceBytes / std::max<std::uint64_t>(mean_bytes, 1), 1, kPieceElementsMax);
    elements_ = elements_ == 0 ? fit : std::min(fit, elements_ * 2);
  }

  // ---- small numbers of fields: by their names
  void list_fields() {
    Commands commands;
    commands.add({"HKEYS", item_.key});
    ask(End::kSource, commands, [this](Replies replies) {
      Commands sizes;
      for (wire::Reply& field : replies.front().elements) {
        sizes.add({"HSTRLEN", item_.key, field.text});
        fields_.push_back({.name = std::move(field.text)});
      }
      if (fields_.empty()) return answer({.changed = true});
      ask(End::kSource, sizes, [this](const Replies& lengths) {
        for (std::size_t i = 0; i < fields_.size(); ++i) {
          fields_[i].bytes = static_cast<std::uint64_t>(lengths[i].integer);
          if (too_large(fields_[i].bytes)) return;
        }
        read_fields();
      });
    });
  }

  void read_fields() {
    if (next_field_ == fields_.size()) return finish();
    std::vector<std::string_view> args{"HMGET", item_.key};
    std::uint64_t bytes = 0;
    const std::size_t first = next_field_;
    while (next_field_ < fields_.size() && next_field_ - first < kPieceElementsMax) {
      const Field& field = fields_[next_field_];
      if (next_field_ > first && bytes + field.bytes > kPieceBytes) break;
      bytes += field.name.size() + field.bytes;
      args.emplace_back(field.name);
      ++next_field_;
    }
    Commands commands;
    commands.add(args);
    ask(End::kSource, commands, [this, first](Replies replies) {
      std::vector<wire::Reply>& values = replies.front().elements;
      Arguments piece;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].type == wire::Reply::Type::kNull) continue;
        piece.push_back(fields_[first + i].name);
        piece.push_back(std::move(values[i].text));
      }
      last_ = next_field_ == fields_.size();
      with_times(std::move(piece));
    });
  }

  // ---- by position or cursor
  void read_piece() {
    if (!fields_.empty()) return read_fields();
    Commands commands;
    const std::string first = std::to_string(position_);
    if (reader_->cursor) {
      commands.add({reader_->read, item_.key, cursor_, "COUNT", std::to_string(elements_)});
    } else {
      asked_ = reader_->type == "string" ? kPieceBytes : elements_;
      position_ += asked_;
      commands.add({reader_->read, item_.key, first, std::to_string(position_ - 1)});
    }
    ask(End::kSource, commands, [this](Replies replies) { take_piece(replies.front()); });
  }

  void take_piece(wire::Reply& piece) {
    Arguments arguments;
    if (reader_->type == "string") {
      last_ = piece.text.size() < asked_;
      if (!piece.text.empty()) arguments.push_back(std::move(piece.text));
      return write_piece(std::move(arguments));
    }
    wire::Reply* elements = &piece;
    if (reader_->cursor) {
      if (piece.elements.size() != 2) return answer({.changed = true});
      cursor_ = piece.elements[0].text;
      last_ = cursor_ == "0";
      elements = &piece.elements[1];
    } else {
      last_ = piece.elements.size() < asked_;
    }
    // ZSCAN gives member, score, where ZADD wants score, member.
    const std::size_t turn = reader_->type == "zset" ? 1 : 0;
    for (std::size_t i = 0; i < elements->elements.size(); ++i) {
      std::string& text = elements->elements[i ^ turn].text;
      if (too_large(text.size())) return;
      arguments.push_back(std::move(text));
    }
    if (!arguments.empty()) fit_pieces(bytes_of(arguments) * reader_->stride / arguments.size());
    if (reader_->type == "hash") return with_times(std::move(arguments));
    write_piece(std::move(arguments));
  }

  bool too_large(std::uint64_t bytes) {
    if (bytes <= ends_.element_bytes_max) return false;
    stay("it has an element of " + std::to_string(bytes) + " bytes, more than " +
         std::to_string(ends_.element_bytes_max));
    return true;
  }

  // ---- times of fields
  // Asked right behind the fields: who changes one in between has the key noted as dirty.
  void with_times(Arguments piece) {
    if (piece.empty() || no_field_times_) return write_piece(std::move(piece));
    std::vector<std::string_view> args{"HPEXPIRETIME", item_.key, "FIELDS"};
    const std::string count = std::to_string(piece.size() / 2);
    args.emplace_back(count);
    for (std::size_t i = 0; i < piece.size(); i += 2) args.emplace_back(piece[i]);
    Commands commands;
    commands.add(args);
    optional_ = true;
    ask_all(End::kSource, commands, [this, piece = std::move(piece)](Replies replies) mutable {
      optional_ = false;
      const wire::Reply& times = replies.front();
      no_field_times_ = times.is_error() && times.text.starts_with("ERR unknown command");
      if (no_field_times_) return write_piece(std::move(piece));
      // An error, or no field any more.
      if (times.elements.size() * 2 != piece.size()) return answer({.changed = true});
      take_times(piece, times);
    });
  }

  void take_times(Arguments& piece, const wire::Reply& times) {
    constexpr std::int64_t kNoField = -2;
    Arguments left;
    for (std::size_t i = 0; i < times.elements.size(); ++i) {
      const std::int64_t at = times.elements[i].integer;
      if (at == kNoField) continue;  // its time has come
      if (at > 0) times_[at].push_back(piece[2 * i]);
      left.push_back(std::move(piece[2 * i]));
      left.push_back(std::move(piece[2 * i + 1]));
    }
    write_piece(std::move(left));
  }

  void add_times(Commands& commands) {
    for (const auto& [at, fields] : times_) {
      const std::string when = std::to_string(at);
      const std::string count = std::to_string(fields.size());
      std::vector<std::string_view> args{"HPEXPIREAT", hidden_, when, "FIELDS", count};
      args.insert(args.end(), fields.begin(), fields.end());
      commands.add(args);
    }
  }

  // ---- the other end
  // In commands of about a piece each: what is larger alone has one of its own.
  void write_piece(const Arguments& piece) {
    const std::uint64_t bytes = bytes_of(piece);
    if (piece.empty()) return last_ ? finish() : read_piece();
    Commands commands;
    for (std::size_t at = 0; at < piece.size();) {
      std::vector<std::string_view> args{reader_->write, hidden_};
      std::uint64_t held = 0;
      while (at < piece.size() && (args.size() == 2 || held + piece[at].size() <= kPieceBytes)) {
        for (std::size_t i = 0; i < reader_->stride; ++i, ++at) {
          args.emplace_back(piece[at]);
          held += piece[at].size();
        }
      }
      commands.add(args);
    }
    const bool timed = !times_.empty();
    add_times(commands);
    bytes_ += bytes;
    optional_ = timed;
    ask_all(End::kDestination, commands, [this, bytes](Replies replies) {
      optional_ = false;
      times_.clear();
      for (const wire::Reply& reply : replies) {
        if (!reply.is_error()) continue;
        if (reply.text.starts_with("ERR unknown command"))
          return stay("some of its fields have expiry times, which the destination does not know");
        return stay("the destination refused a piece of it: " + reply.text);
      }
      go_on(ends_.spent(bytes));
    });
  }

  void go_on(nanoseconds wait) {
    if (last_) return finish();
    if (wait <= nanoseconds{0}) return read_piece();
    waited_ += wait;
    ends_.loop.after(wait, [self = shared_from_this()] {
      if (!self->ends_.alive.expired()) self->read_piece();
    });
  }

  // A key that went meanwhile (its time came, or a cache evicted it) left a part behind, which is
  // no value at all.
  void finish() {
    Commands commands;
    commands.add({"TYPE", item_.key});
    ask(End::kSource, commands, [this](const Replies& replies) {
      if (bytes_ == 0 || replies.front().text != reader_->type) return give_up_hidden();
      put_in_place();
    });
  }

  void give_up_hidden() {
    Commands commands;
    commands.add({"UNLINK", hidden_});
    ask(End::kDestination, commands, [this](const Replies&) { answer({.changed = true}); });
  }

  // UNLINK frees a former copy in the background; RENAME over it would do so before it answers.
  void put_in_place() {
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
      answer({.bytes = bytes_});
    });
  }

  // What was written is of no use.
  void stay(std::string reason) {
    Commands commands;
    commands.add({"UNLINK", hidden_});
    ask_all(End::kDestination, commands,
            [this, reason = std::move(reason)](const Replies&) { answer({.unmovable = reason}); });
  }

  void failed(End at, const Error& why) {
    answer({.failure = BigCopy::Failure{.at = at, .why = why}});
  }

  void answer(BigCopy copy) {
    copy.busy = ends_.loop.now() - began_ - waited_;
    done_(std::move(copy));
  }

  // A field of a hash that is read by name.
  struct Field {
    std::string name;
    std::uint64_t bytes = 0;
  };

  BigCopying ends_;
  Item item_;
  std::function<void(BigCopy)> done_;
  std::string hidden_;
  const PieceReader* reader_ = nullptr;
  std::int64_t expires_at_ms_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t asked_ = 0;     // of the piece under way
  std::uint64_t elements_ = 0;  // a piece
  std::string cursor_ = "0";
  std::vector<Field> fields_;
  std::size_t next_field_ = 0;
  std::map<std::int64_t, std::vector<std::string>> times_;  // of the piece under way
  bool no_field_times_ = false;                             // the source knows none
  bool optional_ = false;                                   // the server need not know the command
  bool last_ = false;                                       // no piece comes after this one
  std::uint64_t bytes_ = 0;
  Instant began_{0};
  nanoseconds waited_{0};
};

}  // namespace

void copy_big(BigCopying ends, const Item& item, std::function<void(BigCopy)> done) {
  std::make_shared<Copying>(std::move(ends), item, std::move(done))->begin();
}

}  // namespace cleave::backend
