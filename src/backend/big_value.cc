#include "backend/big_value.h"

#include <string_view>
#include <utility>
#include <vector>

namespace cleave::backend {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20U;
constexpr std::size_t kPieceElements = 2'000;

// How a type is read piece by piece and what writes a piece. `cursor` types use the *SCAN family:
// the reply is [cursor, elements].
struct PieceReader {
  std::string_view type;
  std::string_view read;
  std::string_view write;
  bool cursor;
};
constexpr PieceReader kReaders[] = {
    {"string", "GETRANGE", "APPEND", false}, {"list", "LRANGE", "RPUSH", false},
    {"hash", "HSCAN", "HSET", true},         {"set", "SSCAN", "SADD", true},
    {"zset", "ZSCAN", "ZADD", true},
};

const PieceReader* reader_of(std::string_view type) {
  for (const PieceReader& reader : kReaders) {
    if (reader.type == type) return &reader;
  }
  return nullptr;
}

// One copy under way; owns itself until it has answered.
class Copying : public std::enable_shared_from_this<Copying> {
 public:
  Copying(RedisStore& source, RedisStore& destination, const Item& item, const Limits& limits,
          std::weak_ptr<void> alive, std::function<void(Result<BigCopy>)> done)
      : source_(source),
        destination_(destination),
        item_(item),
        limits_(limits),
        alive_(std::move(alive)),
        done_(std::move(done)),
        hidden_(std::string(kMovePrefix) + ":" + item.key) {}

  void begin() {
    Commands commands;
    commands.add({"TYPE", item_.key});
    commands.add({"PTTL", item_.key});
    commands.add({"TIME"});
    ask(source_, commands, [this](Replies replies) {
      reader_ = reader_of(replies[0].text);
      if (replies[0].text == "none") return remove();
      if (reader_ == nullptr) {
        return answer({.bytes = 0,
                       .unmovable = "a value of type " + replies[0].text + " with " +
                                    std::to_string(item_.bytes) +
                                    " bytes cannot be copied in pieces"});
      }
      take_expiry(replies[1].integer, replies[2]);
      clear_hidden();
    });
  }

 private:
  using Then = std::function<void(Replies)>;

  void ask(RedisStore& store, const Commands& commands, Then then) {
    store.run(commands, [self = shared_from_this(),
                         then = std::move(then)](Result<Replies> replies) {
      if (self->alive_.expired()) return;
      if (!replies) return self->done_(std::unexpected(replies.error()));
      for (const wire::Reply& reply : *replies) {
        if (!reply.is_error()) continue;
        return self->answer({.bytes = 0, .unmovable = "a server refused a piece: " + reply.text});
      }
      then(std::move(*replies));
    });
  }

  void take_expiry(std::int64_t left_ms, const wire::Reply& time) {
    if (left_ms < 0 || time.elements.size() != 2) return;
    expires_at_ms_ = to_number(time.elements[0].text) * 1'000 +
                     to_number(time.elements[1].text) / 1'000 + left_ms;
  }

  void remove() {
    Commands commands;
    commands.add({"UNLINK", item_.key});
    ask(destination_, commands, [this](const Replies&) { answer({}); });
  }

  void clear_hidden() {
    Commands commands;
    commands.add({"UNLINK", hidden_});
    ask(destination_, commands, [this](const Replies&) { read_piece(); });
  }

  void read_piece() {
    Commands commands;
    const std::string first = std::to_string(position_);
    if (reader_->cursor) {
      commands.add({reader_->read, item_.key, cursor_, "COUNT", std::to_string(kPieceElements)});
    } else {
      const std::size_t step = reader_->type == "string" ? kPieceBytes : kPieceElements;
      position_ += step;
      commands.add({reader_->read, item_.key, first, std::to_string(position_ - 1)});
    }
    ask(source_, commands, [this](Replies replies) { write_piece(replies.front()); });
  }

  void write_piece(wire::Reply& piece) {
    std::vector<std::string_view> args{reader_->write, hidden_};
    bool last = false;
    if (reader_->type == "string") {
      last = piece.text.size() < kPieceBytes;
      if (!piece.text.empty()) args.emplace_back(piece.text);
    } else if (!reader_->cursor) {
      last = piece.elements.size() < kPieceElements;
      for (const wire::Reply& element : piece.elements) args.emplace_back(element.text);
    } else if (piece.elements.size() == 2) {
      cursor_ = piece.elements[0].text;
      last = cursor_ == "0";
      add_scanned(piece.elements[1], args);
    }
    if (args.size() == 2) return last ? finish() : read_piece();
    for (const std::string_view arg : args) bytes_ += arg.size();
    Commands commands;
    commands.add(args);
    ask(destination_, commands, [this, last](const Replies&) { last ? finish() : read_piece(); });
  }

  // HSCAN gives field, value; ZSCAN member, score, where ZADD wants score, member.
  void add_scanned(const wire::Reply& scanned, std::vector<std::string_view>& args) const {
    const bool pairs_turned = reader_->type == "zset";
    for (std::size_t i = 0; i < scanned.elements.size(); ++i) {
      const std::size_t from = pairs_turned ? i ^ 1U : i;
      args.emplace_back(scanned.elements[from].text);
    }
  }

  void finish() {
    Commands commands;
    // Nothing was written: the key went away meanwhile.
    if (bytes_ == 0) return remove();
    const std::string at = std::to_string(expires_at_ms_);
    if (expires_at_ms_ > 0) commands.add({"PEXPIREAT", hidden_, at});
    commands.add({"RENAME", hidden_, item_.key});
    ask(destination_, commands,
        [this](const Replies&) { answer({.bytes = bytes_, .unmovable = ""}); });
  }

  void answer(BigCopy copy) { done_(std::move(copy)); }

  RedisStore& source_;
  RedisStore& destination_;
  Item item_;
  Limits limits_;
  std::weak_ptr<void> alive_;
  std::function<void(Result<BigCopy>)> done_;
  std::string hidden_;
  const PieceReader* reader_ = nullptr;
  std::int64_t expires_at_ms_ = 0;
  std::uint64_t position_ = 0;
  std::string cursor_ = "0";
  std::uint64_t bytes_ = 0;
};

}  // namespace

void copy_big(RedisStore& source, RedisStore& destination, const Item& item, const Limits& limits,
              std::weak_ptr<void> alive, std::function<void(Result<BigCopy>)> done) {
  std::make_shared<Copying>(source, destination, item, limits, std::move(alive), std::move(done))
      ->begin();
}

}  // namespace cleave::backend
