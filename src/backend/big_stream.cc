// Streams in pieces: entries by their ids, then groups, consumers and pending entries, then the
// counters, so that XINFO STREAM FULL says the same at both ends.
//
// An entry that was deleted may still be pending. XCLAIM does not take ids that are not there, so
// such an entry is written empty, claimed, and deleted again; the counters are set behind that.

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/piece_copy.h"

namespace cleave::backend {
namespace {

// Pending entries of all groups: more are not held here at once, and their stream stays.
constexpr std::size_t kPendingMax = 200'000;
constexpr std::int64_t kPendingPage = 100;
// The times of a page are known to the millisecond when no other passed while it was read.
constexpr std::uint32_t kTriesAPage = 30;

// An id, in the order in which entries lie.
using EntryId = std::pair<std::uint64_t, std::uint64_t>;

EntryId entry_id(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto number = [](std::string_view part) {
    return static_cast<std::uint64_t>(to_number(part));
  };
  return {number(text.substr(0, dash)),
          dash == std::string_view::npos ? 0 : number(text.substr(dash + 1))};
}

std::string to_text(const EntryId& id) {
  return std::to_string(id.first) + "-" + std::to_string(id.second);
}

std::string behind(EntryId id) {
  if (++id.second == 0) ++id.first;
  return to_text(id);
}

// The value behind `name` in a reply of names and values; nullptr: the server knows none.
const wire::Reply* field_of(const wire::Reply& reply, std::string_view name) {
  for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
    if (reply.elements[i].text == name) return &reply.elements[i + 1];
  }
  return nullptr;
}

struct Pending {
  EntryId id;
  std::string consumer;
  std::int64_t delivered_ms = 0;
  std::int64_t deliveries = 0;
};

struct Group {
  std::string name;
  std::string last_delivered;
  std::string entries_read;  // empty: not known, or a server that does not count them
  std::vector<std::string> consumers;
  std::vector<Pending> pending;
};

class StreamCopy final : public PieceCopy {
 public:
  StreamCopy(BigCopying ends, const Item& item, Done done)
      : PieceCopy(std::move(ends), item, std::move(done)) {
    type_ = "stream";
  }

  void begin(std::int64_t time_left_ms, const wire::Reply& time) {
    take_expiry(time_left_ms, time);
    Commands commands;
    commands.add({"XINFO", "STREAM", item_.key});
    commands.add({"XINFO", "GROUPS", item_.key});
    ask(End::kSource, commands, [this](const Replies& replies) {
      take_counters(replies[0]);
      for (const wire::Reply& each : replies[1].elements) take_group(each);
      if (groups_.empty()) return clear();
      ask_consumers();
    });
  }

 private:
  // ---- what is there beside the entries
  void take_counters(const wire::Reply& info) {
    const wire::Reply* length = field_of(info, "length");
    const auto entries = static_cast<std::uint64_t>(length == nullptr ? 1 : length->integer);
    fit_pieces(item_.bytes / std::max<std::uint64_t>(entries, 1));
    if (const wire::Reply* last = field_of(info, "last-generated-id")) last_id_ = last->text;
    const wire::Reply* added = field_of(info, "entries-added");
    const wire::Reply* deleted = field_of(info, "max-deleted-entry-id");
    if (added == nullptr || deleted == nullptr) return;
    entries_added_ = std::to_string(added->integer);
    max_deleted_ = deleted->text;
  }

  void take_group(const wire::Reply& info) {
    const wire::Reply* name = field_of(info, "name");
    const wire::Reply* last = field_of(info, "last-delivered-id");
    const wire::Reply* read = field_of(info, "entries-read");
    if (name == nullptr || last == nullptr) return;
    Group group;
    group.name = name->text;
    group.last_delivered = last->text;
    if (read != nullptr && read->type == wire::Reply::Type::kInteger)
      group.entries_read = std::to_string(read->integer);
    groups_.push_back(std::move(group));
  }

  void ask_consumers() {
    Commands commands;
    for (const Group& group : groups_) commands.add({"XINFO", "CONSUMERS", item_.key, group.name});
    ask(End::kSource, commands, [this](const Replies& replies) {
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        for (const wire::Reply& each : replies[i].elements) {
          const wire::Reply* name = field_of(each, "name");
          if (name != nullptr) groups_[i].consumers.push_back(name->text);
        }
      }
      ask_pending();
    });
  }

  // XPENDING tells how long ago; with TIME of the same millisecond before and behind it that is a
  // moment.
  void ask_pending() {
    if (group_ == groups_.size()) return clear();
    const Group& group = groups_[group_];
    const std::string from = group.pending.empty() ? "-" : behind(group.pending.back().id);
    Commands commands;
    commands.add({"MULTI"});
    commands.add({"TIME"});
    commands.add({"XPENDING", item_.key, group.name, from, "+", std::to_string(kPendingPage)});
    commands.add({"TIME"});
    commands.add({"EXEC"});
    ask(End::kSource, commands, [this](const Replies& replies) {
      const wire::Reply& run = replies.back();
      if (run.elements.size() != 3 || run.elements[1].is_error()) return became_other();
      const std::int64_t now = milliseconds_of(run.elements[0]);
      if (now != milliseconds_of(run.elements[2]) && ++tries_ < kTriesAPage) return ask_pending();
      tries_ = 0;
      take_pending(run.elements[1], now);
    });
  }

  void take_pending(const wire::Reply& page, std::int64_t now) {
    Group& group = groups_[group_];
    for (const wire::Reply& each : page.elements) {
      if (each.elements.size() != 4) continue;
      group.pending.push_back({.id = entry_id(each.elements[0].text),
                               .consumer = each.elements[1].text,
                               .delivered_ms = now - each.elements[2].integer,
                               .deliveries = each.elements[3].integer});
      missing_.insert(group.pending.back().id);
    }
    if (missing_.size() > kPendingMax)
      return stay("its groups have more than " + std::to_string(kPendingMax) + " pending entries");
    if (page.elements.size() < static_cast<std::size_t>(kPendingPage)) ++group_;
    ask_pending();
  }

  void clear() {
    Commands commands;
    commands.add({"UNLINK", hidden_});
    ask(End::kDestination, commands, [this](const Replies&) { read_piece(); });
  }

  // ---- entries
  void read_piece() override {
    Commands commands;
    asked_ = elements_;
    commands.add({"XRANGE", item_.key, from_, "+", "COUNT", std::to_string(asked_)});
    ask(End::kSource, commands, [this](Replies replies) { take_piece(replies.front()); });
  }

  void take_piece(const wire::Reply& piece) {
    Commands commands;
    std::uint64_t bytes = 0;
    for (const wire::Reply& entry : piece.elements) {
      if (entry.elements.size() != 2) return became_other();
      const EntryId id = entry_id(entry.elements[0].text);
      add_missing_before(commands, id);
      if (first_.empty()) first_ = entry.elements[0].text;
      missing_.erase(id);
      std::vector<std::string_view> args{"XADD", hidden_, entry.elements[0].text};
      std::uint64_t held = 0;
      for (const wire::Reply& text : entry.elements[1].elements) {
        args.emplace_back(text.text);
        held += text.text.size();
      }
      if (too_large(held)) return;
      bytes += held + entry.elements[0].text.size();
      commands.add(args);
      from_ = behind(id);
    }
    if (!piece.elements.empty()) fit_pieces(bytes / piece.elements.size());
    last_ = piece.elements.size() < asked_;
    if (last_) add_missing_before(commands, EntryId{~std::uint64_t{0}, ~std::uint64_t{0}});
    bytes_ += bytes;
    if (commands.empty()) return write_groups();
    ask(End::kDestination, commands, [this, bytes](const Replies&) {
      const nanoseconds wait = ends_.spent(bytes);
      last_ ? write_groups() : go_on(wait);
    });
  }

  // Entries that are pending and not there, up to the id: empty ones take their place for now.
  void add_missing_before(Commands& commands, const EntryId& id) {
    while (!missing_.empty() && *missing_.begin() < id) {
      const std::string text = to_text(*missing_.begin());
      commands.add({"XADD", hidden_, text, "", ""});
      if (first_.empty()) {
        trimmed_ = true;
      } else {
        deleted_.push_back(text);
      }
      missing_.erase(missing_.begin());
    }
  }

  // ---- groups, and what was counted
  void write_groups() {
    Commands commands;
    for (const Group& group : groups_) {
      std::vector<std::string_view> create{
          "XGROUP", "CREATE", hidden_, group.name, group.last_delivered, "MKSTREAM"};
      if (!group.entries_read.empty()) {
        create.emplace_back("ENTRIESREAD");
        create.emplace_back(group.entries_read);
      }
      commands.add(create);
      for (const std::string& consumer : group.consumers)
        commands.add({"XGROUP", "CREATECONSUMER", hidden_, group.name, consumer});
    }
    bytes_ = std::max<std::uint64_t>(bytes_, 1);
    if (commands.empty()) return write_counters();
    group_ = 0;
    next_pending_ = 0;
    ask(End::kDestination, commands, [this](const Replies&) { write_pending(); });
  }

  void write_pending() {
    Commands commands;
    while (group_ < groups_.size() && commands.size() < kPieceElementsMax) {
      const Group& group = groups_[group_];
      if (next_pending_ == group.pending.size()) {
        ++group_;
        next_pending_ = 0;
        continue;
      }
      const Pending& each = group.pending[next_pending_++];
      commands.add({"XCLAIM", hidden_, group.name, each.consumer, "0", to_text(each.id), "TIME",
                    std::to_string(each.delivered_ms), "RETRYCOUNT",
                    std::to_string(each.deliveries), "FORCE", "JUSTID"});
    }
    if (commands.empty()) return write_counters();
    ask(End::kDestination, commands, [this](const Replies& replies) {
      for (const wire::Reply& claimed : replies) {
        if (claimed.elements.size() != 1)
          return stay("a pending entry of it cannot be written at the destination");
      }
      write_pending();
    });
  }

  // What lay before the first entry was trimmed, which is no deletion for the counters.
  void write_counters() {
    Commands commands;
    if (trimmed_ && first_.empty()) commands.add({"XTRIM", hidden_, "MAXLEN", "0"});
    if (trimmed_ && !first_.empty()) commands.add({"XTRIM", hidden_, "MINID", first_});
    for (std::size_t at = 0; at < deleted_.size(); at += kPieceElementsMax) {
      std::vector<std::string_view> remove{"XDEL", hidden_};
      const std::size_t end = std::min(at + kPieceElementsMax, deleted_.size());
      for (std::size_t i = at; i < end; ++i) remove.emplace_back(deleted_[i]);
      commands.add(remove);
    }
    std::vector<std::string_view> set{"XSETID", hidden_, last_id_};
    if (!entries_added_.empty()) {
      for (const std::string_view each :
           {std::string_view("ENTRIESADDED"), std::string_view(entries_added_),
            std::string_view("MAXDELETEDID"), std::string_view(max_deleted_)})
        set.emplace_back(each);
    }
    commands.add(set);
    ask(End::kDestination, commands, [this](const Replies&) { finish(); });
  }

  std::string last_id_ = "0-0";
  std::string entries_added_;  // empty: the source does not count (before 7.0)
  std::string max_deleted_;
  std::vector<Group> groups_;
  std::size_t group_ = 0;
  std::size_t next_pending_ = 0;
  std::uint32_t tries_ = 0;
  std::string from_ = "-";
  std::uint64_t asked_ = 0;           // entries, of the piece under way
  std::string first_;                 // entry that is there
  bool trimmed_ = false;              // empty entries were written before it
  std::set<EntryId> missing_;         // pending, and not met among the entries so far
  std::vector<std::string> deleted_;  // written empty, to be deleted again
};

}  // namespace

void copy_stream(BigCopying ends, const Item& item, std::int64_t time_left_ms,
                 const wire::Reply& time, std::function<void(BigCopy)> done) {
  std::make_shared<StreamCopy>(std::move(ends), item, std::move(done))->begin(time_left_ms, time);
}

}  // namespace cleave::backend
