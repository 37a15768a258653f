#include "app/serve/saved_rings.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "app/files.h"
#include "base/hash.h"
#include "supervise/files.h"

namespace cleave::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 16;         // of the ring that is served
constexpr std::size_t kKeptOfOthers = 2;  // of each ring before it
constexpr std::size_t kOthersMax = 8;     // rings before it
constexpr std::size_t kEpochDigits = 16;
constexpr std::size_t kRingDigits = 8;
constexpr std::string_view kEnd = ".ring";

std::string digits(std::uint64_t number) {
  std::string text = std::to_string(number);
  return text.size() < kEpochDigits ? std::string(kEpochDigits - text.size(), '0') + text : text;
}

// The mark may be any text; its hash may stand in a file's name.
std::string file_name(const ring::Document& document) {
  const std::string ring = ring::to_hex(Token{xxh3_64(document.mark)}).substr(0, kRingDigits);
  return document.pool + "-" + ring + "-" + digits(document.epoch.value()) + std::string(kEnd);
}

// "main-5f0c9a1e": what all files of one ring begin with. Empty: no file of ours.
std::string ring_of(const std::string& name) {
  if (!name.ends_with(kEnd)) return {};
  const std::size_t dash = name.rfind('-');
  return dash == std::string::npos ? std::string() : name.substr(0, dash);
}

void remove_file(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace

std::string saved_ring_text(std::string_view document, const ring::Document& of, UnixMillis now) {
  nlohmann::ordered_json head = {
      {"saved_ring", 1}, {"saved_ms", now.value()}, {"pool", of.pool}, {"epoch", of.epoch.value()}};
  std::string text = head.dump();
  text.pop_back();
  return text + ",\"document\":" + std::string(document) + "}\n";
}

Result<ring::Document> parse_saved_ring(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return fail(Code::kInvalid, "it is no saved ring: not one whole JSON object");
  const auto version = json.find("saved_ring");
  if (version == json.end()) return ring::parse_document(text);
  if (*version != 1)
    return fail(Code::kInvalid, "it is a saved ring of a newer cleave: version " + version->dump());
  const auto document = json.find("document");
  if (document == json.end()) return fail(Code::kInvalid, "it is a saved ring without a document");
  return ring::parse_document(document->dump());
}

bool same_ring(const ring::Document& one, const ring::Document& other) {
  const auto bare = [](ring::Document document) {
    document.epoch = Epoch{};
    document.leader = {};
    document.routers.clear();
    for (ring::Move& move : document.moves) {
      if (move.phase == ring::Phase::kFenced) move.phase = ring::Phase::kCopying;
      move.phase_epoch = Epoch{};
    }
    return document;
  };
  return bare(one) == bare(other);
}

SavedRings::SavedRings(Options options)
    : options_(std::move(options)), thread_([this] { work(); }) {}

SavedRings::~SavedRings() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void SavedRings::see(ring::RingSnapshot view) {
  {
    const std::lock_guard lock(mutex_);
    next_ = std::move(view);
  }
  changed_.notify_one();
}

void SavedRings::work() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || next_ != nullptr; });
    const ring::RingSnapshot view = std::exchange(next_, nullptr);
    if (view == nullptr) return;
    lock.unlock();
    save(view->document());
  }
}

// What a former life of this router has saved last.
void SavedRings::recall(const std::string& name) {
  std::string newest;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.directory, failed)) {
    const std::string found = entry.path().filename().string();
    if (ring_of(found) == ring_of(name)) newest = std::max(newest, found);
  }
  if (newest.empty()) return;
  const Result<std::string> text = read_file(options_.directory + "/" + newest);
  Result<ring::Document> document = text ? parse_saved_ring(*text) : std::unexpected(text.error());
  if (!document) return;
  saved_ = std::move(*document);
  saved_name_ = newest;
}

void SavedRings::save(const ring::Document& document) {
  if (!saved_) recall(file_name(document));
  if (saved_ && saved_->epoch == document.epoch && saved_->mark == document.mark) return;
  const std::string name = file_name(document);
  const std::string text =
      saved_ring_text(ring::to_text(document), document, options_.clock.wall_now());
  if (const Result<void> written = write(name, text); !written) {
    if (std::exchange(told_, written.error().message) != told_)
      options_.trouble("the ring is not saved on this machine: " + written.error().message);
    return;
  }
  told_.clear();
  // Who routes and leads alone needs no file of its own.
  if (saved_ && same_ring(*saved_, document) && saved_name_ != name)
    remove_file(fs::path(options_.directory) / saved_name_);
  saved_ = document;
  saved_name_ = name;
  keep_newest(name);
}

Result<void> SavedRings::write(const std::string& name, const std::string& text) {
  if (auto made = supervise::make_directory(options_.directory); !made) return made;
  return supervise::write_file(options_.directory + "/" + name, text);
}

void SavedRings::keep_newest(const std::string& newest) {
  std::map<std::string, std::vector<std::string>> rings;  // their names end with the epoch
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(options_.directory, failed)) {
    const std::string name = entry.path().filename().string();
    if (const std::string ring = ring_of(name); !ring.empty()) rings[ring].push_back(name);
  }
  const std::string own = ring_of(newest);
  std::vector<std::pair<fs::file_time_type, std::string>> others;
  for (auto& [ring, names] : rings) {
    std::ranges::sort(names, std::greater{});
    const std::size_t kept = ring == own ? kKept : kKeptOfOthers;
    for (std::size_t i = kept; i < names.size(); ++i)
      remove_file(fs::path(options_.directory) / names[i]);
    if (ring != own)
      others.emplace_back(fs::last_write_time(fs::path(options_.directory) / names[0], failed),
                          ring);
  }
  std::ranges::sort(others, std::greater{});
  for (std::size_t i = kOthersMax; i < others.size(); ++i) {
    for (const std::string& name : rings[others[i].second])
      remove_file(fs::path(options_.directory) / name);
  }
}

}  // namespace cleave::app
