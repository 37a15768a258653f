#include "backend/big_value.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/piece_copy.h"

namespace cleave::backend {
namespace {

// Hashes of so many fields are read by a list of their names and sizes: an element that is too
// large is then found without being read.
constexpr std::int64_t kListedFieldsMax = 5'000;

// How a type is read piece by piece and what writes a piece. `cursor` types use the *SCAN family:
// the reply is [cursor, elements].
struct PieceReader {
  std::string_view type;
  std::string_view count;
  std::string_view read;
  std::string_view write;
  std::string_view remove;  // elements by their names; empty: it has none
  bool cursor;
  std::size_t stride;  // arguments of one element
};
constexpr PieceReader kReaders[] = {
    {"string", "STRLEN", "GETRANGE", "APPEND", "", false, 1},
    {"list", "LLEN", "LRANGE", "RPUSH", "", false, 1},
    {"hash", "HLEN", "HSCAN", "HSET", "HDEL", true, 2},
    {"set", "SCARD", "SSCAN", "SADD", "SREM", true, 1},
    {"zset", "ZCARD", "ZSCAN", "ZADD", "ZREM", true, 2},
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

// A string, list, set, hash or sorted set, as a whole or by some of its elements.
class ElementsCopy final : public PieceCopy {
 public:
  ElementsCopy(BigCopying ends, const Item& item, Done done)
      : PieceCopy(std::move(ends), item, std::move(done)), target_(hidden_) {}

  void begin_elements(const BigBase& base, std::vector<std::string> names) {
    over_base_ = true;
    target_ = item_.key;
    expires_at_ms_ = base.expires_at_ms;
    reader_ = reader_of(base.type);
    if (reader_ == nullptr || reader_->remove.empty()) return became_other();
    type_ = reader_->type;
    for (std::string& name : names) fields_.push_back({.name = std::move(name)});
    Commands commands;
    commands.add({"TYPE", item_.key});
    commands.add({"PTTL", item_.key});
    ask(End::kSource, commands, [this](const Replies& replies) {
      const bool timed = replies[1].integer >= 0;
      if (replies[0].text != type_ || timed != (expires_at_ms_ > 0)) return became_other();
      type_ == "hash" ? size_fields() : read_fields();
    });
  }

  void begin() {
    Commands commands;
    commands.add({"TYPE", item_.key});
    commands.add({"PTTL", item_.key});
    commands.add({"TIME"});
    ask(End::kSource, commands, [this](const Replies& replies) {
      const std::string& type = replies[0].text;
      if (type == "none") return became_other();
      if (type == "stream")
        return copy_stream(ends_, item_, replies[1].integer, replies[2], take_done());
      reader_ = reader_of(type);
      if (reader_ == nullptr) {
        return stay("a value of type " + type + " with " + std::to_string(item_.bytes) +
                    " bytes cannot be copied in pieces");
      }
      type_ = reader_->type;
      take_expiry(replies[1].integer, replies[2]);
      count_elements();
    });
  }

 private:
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

  // ---- small numbers of fields: by their names
  void list_fields() {
    Commands commands;
    commands.add({"HKEYS", item_.key});
    ask(End::kSource, commands, [this](Replies replies) {
      for (wire::Reply& field : replies.front().elements)
        fields_.push_back({.name = std::move(field.text)});
      fields_.empty() ? became_other() : size_fields();
    });
  }

  void size_fields() {
    Commands sizes;
    for (const Field& field : fields_) sizes.add({"HSTRLEN", item_.key, field.name});
    ask(End::kSource, sizes, [this](const Replies& lengths) {
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        fields_[i].bytes = static_cast<std::uint64_t>(lengths[i].integer);
        if (too_large(fields_[i].bytes)) return;
      }
      read_fields();
    });
  }

  void read_fields() {
    if (next_field_ == fields_.size()) return end();
    std::vector<std::string_view> args{by_name(), item_.key};
    std::uint64_t bytes = 0;
    const std::size_t first = next_field_;
    while (next_field_ < fields_.size() && next_field_ - first < kPieceElementsMax) {
      const Field& field = fields_[next_field_];
      if (next_field_ > first && bytes + field.bytes > piece_bytes()) break;
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
        const std::string& name = fields_[first + i].name;
        const bool absent = values[i].type == wire::Reply::Type::kNull ||
                            (type_ == "set" && values[i].integer == 0);
        absent ? removed_.push_back(name) : add_element(piece, name, std::move(values[i].text));
      }
      last_ = next_field_ == fields_.size();
      type_ == "hash" ? with_times(std::move(piece)) : write_piece(std::move(piece));
    });
  }

  std::string_view by_name() const {
    if (type_ == "set") return "SMISMEMBER";
    return type_ == "zset" ? "ZMSCORE" : "HMGET";
  }

  // As the write command takes it.
  void add_element(Arguments& piece, const std::string& name, std::string value) const {
    if (type_ == "zset") piece.push_back(value);
    piece.push_back(name);
    if (type_ == "hash") piece.push_back(std::move(value));
  }

  // ---- by position or cursor
  void read_piece() override {
    if (!fields_.empty()) return read_fields();
    Commands commands;
    const std::string first = std::to_string(position_);
    if (reader_->cursor) {
      commands.add({reader_->read, item_.key, cursor_, "COUNT", std::to_string(elements_)});
    } else {
      asked_ = reader_->type == "string" ? piece_bytes() : elements_;
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
      if (piece.elements.size() != 2) return became_other();
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
      if (times.elements.size() * 2 != piece.size()) return became_other();
      take_times(piece, times);
    });
  }

  void take_times(Arguments& piece, const wire::Reply& times) {
    constexpr std::int64_t kNoField = -2;
    Arguments left;
    for (std::size_t i = 0; i < times.elements.size(); ++i) {
      const std::int64_t at = times.elements[i].integer;
      if (at == kNoField) {  // its time has come
        removed_.push_back(piece[2 * i]);
        continue;
      }
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
      std::vector<std::string_view> args{"HPEXPIREAT", target_, when, "FIELDS", count};
      args.insert(args.end(), fields.begin(), fields.end());
      commands.add(args);
    }
  }

  // ---- the other end
  // In commands of about a piece each: what is larger alone has one of its own.
  void write_piece(const Arguments& piece) {
    const std::uint64_t bytes = bytes_of(piece);
    Commands commands;
    if (over_base_) commands.add({"EXISTS", target_});
    for (std::size_t at = 0; at < piece.size();) {
      std::vector<std::string_view> args{reader_->write, target_};
      std::uint64_t held = 0;
      while (at < piece.size() && (args.size() == 2 || held + piece[at].size() <= piece_bytes())) {
        for (std::size_t i = 0; i < reader_->stride; ++i, ++at) {
          args.emplace_back(piece[at]);
          held += piece[at].size();
        }
      }
      commands.add(args);
    }
    const bool timed = !times_.empty();
    add_times(commands);
    if (last_ && over_base_) add_last(commands);
    if (commands.empty()) return last_ ? end() : read_piece();
    if (over_base_) commands.add({"EXISTS", target_});
    bytes_ += bytes;
    optional_ = timed;
    ask_all(End::kDestination, commands, [this, bytes](Replies replies) {
      optional_ = false;
      times_.clear();
      if (over_base_) more_keys_ += replies.back().integer - replies.front().integer;
      for (const wire::Reply& reply : replies) {
        if (!reply.is_error()) continue;
        if (reply.text.starts_with("ERR unknown command"))
          return stay("some of its fields have expiry times, which the destination does not know");
        return stay("the destination refused a piece of it: " + reply.text);
      }
      const nanoseconds wait = ends_.spent(bytes);
      last_ ? end() : go_on(wait);
    });
  }

  // Behind all that is written. The copy may have lost its expiry time with its last element, or be
  // gone by it already, and then be there anew: with its time again it goes when it should.
  void add_last(Commands& commands) {
    if (!removed_.empty() && !ends_.mutations.removed_element_stays) {
      std::vector<std::string_view> args{reader_->remove, target_};
      args.insert(args.end(), removed_.begin(), removed_.end());
      commands.add(args);
    }
    const std::string at = std::to_string(expires_at_ms_);
    if (expires_at_ms_ > 0) commands.add({"PEXPIREAT", target_, at});
  }

  void end() {
    if (!over_base_) return finish();
    answer({.bytes = bytes_, .type = type_, .expires_at_ms = expires_at_ms_});
  }

  // A field of a hash that is read by name.
  struct Field {
    std::string name;
    std::uint64_t bytes = 0;
  };

  std::string target_;  // what is written to
  bool over_base_ = false;
  const PieceReader* reader_ = nullptr;
  std::uint64_t position_ = 0;
  std::uint64_t asked_ = 0;  // of the piece under way
  std::string cursor_ = "0";
  std::vector<Field> fields_;
  std::size_t next_field_ = 0;
  // Of the piece under way.
  std::map<std::int64_t, std::vector<std::string>> times_;
  std::vector<std::string> removed_;  // those that the source does not have
  bool no_field_times_ = false;       // the source knows none
};

}  // namespace

void copy_big(BigCopying ends, const Item& item, std::function<void(BigCopy)> done) {
  std::make_shared<ElementsCopy>(std::move(ends), item, std::move(done))->begin();
}

void copy_elements(BigCopying ends, const BigBase& base, const Touched& touched,
                   std::function<void(BigCopy)> done) {
  Item item;
  item.key = touched.key;
  std::make_shared<ElementsCopy>(std::move(ends), item, std::move(done))
      ->begin_elements(base, touched.elements);
}

}  // namespace cleave::backend
