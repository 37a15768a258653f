#include "rehearse/transfers.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"
#include "rehearse/workloads/pool.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint32_t kAllPpm = 1'000'000;
constexpr std::uint64_t kNanosASecond = 1'000'000'000;

// Takes from `left` what `time` is enough for; answers the time that is over.
nanoseconds spend(nanoseconds time, nanoseconds& left) {
  const nanoseconds spent = std::min(time, left);
  left -= spent;
  return time - spent;
}

std::int64_t share_of(std::int64_t amount, std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::int64_t>(Wide{static_cast<std::uint64_t>(amount)} * part / whole);
}

// Of the source's time, while the scan lasts.
std::uint32_t scan_share_ppm(const Transfer& transfer, const std::vector<std::uint32_t>& use_ppm) {
  const std::uint32_t busy = use_ppm[number_of(transfer.promise.planned.source)];
  return std::clamp(kAllPpm - std::min(kAllPpm, busy), Transfers::kScanMinPpm,
                    Transfers::kScanMaxPpm);
}

nanoseconds scan(nanoseconds time, std::uint32_t share_ppm, nanoseconds& left) {
  const nanoseconds wall{share_of(left.count(), kAllPpm, share_ppm)};
  if (wall <= time) {
    left = nanoseconds{0};
    return time - wall;
  }
  left -= nanoseconds{share_of(time.count(), share_ppm, kAllPpm)};
  return nanoseconds{0};
}

nanoseconds copy(nanoseconds time, std::uint64_t bytes_per_second, std::uint64_t& left) {
  const nanoseconds wall{static_cast<std::int64_t>(Wide{left} * kNanosASecond / bytes_per_second)};
  if (wall <= time) {
    left = 0;
    return time - wall;
  }
  left -= static_cast<std::uint64_t>(Wide{static_cast<std::uint64_t>(time.count())} *
                                     bytes_per_second / kNanosASecond);
  return nanoseconds{0};
}

}  // namespace

void Transfers::begin(Transfer transfer, std::uint64_t source_keys, std::uint64_t bytes) {
  transfer.scan_left = kScanOfKey * static_cast<std::int64_t>(source_keys);
  transfer.bytes_left = bytes;
  transfer.commit_left = kCommit;
  under_way_.push_back(std::move(transfer));
}

nanoseconds Transfers::scan_time(const Transfer& transfer, nanoseconds time,
                                 const std::vector<std::uint32_t>& use_ppm) {
  const std::uint32_t share = scan_share_ppm(transfer, use_ppm);
  return std::min(transfer.scan_left, nanoseconds{share_of(time.count(), share, kAllPpm)});
}

std::vector<Transfer> Transfers::pass(nanoseconds time, const std::vector<std::uint32_t>& use_ppm) {
  const std::uint64_t rate = kBytesPerSecond / std::max<std::size_t>(under_way_.size(), 1);
  std::vector<Transfer> done;
  for (Transfer& each : under_way_) {
    nanoseconds left = scan(time, scan_share_ppm(each, use_ppm), each.scan_left);
    left = copy(left, rate, each.bytes_left);
    spend(left, each.commit_left);
    if (each.commit_left == nanoseconds{0}) done.push_back(each);
  }
  std::erase_if(under_way_, [](const Transfer& each) { return each.commit_left.count() == 0; });
  return done;
}

std::vector<Transfer> Transfers::abort(NodeId node) {
  const auto touches = [&](const Transfer& each) {
    return each.promise.planned.source == node || each.promise.planned.destination == node;
  };
  std::vector<Transfer> aborted;
  std::ranges::copy_if(under_way_, std::back_inserter(aborted), touches);
  std::erase_if(under_way_, touches);
  return aborted;
}

std::uint32_t Transfers::out_of(NodeId node) const {
  return static_cast<std::uint32_t>(std::ranges::count(
      under_way_, node, [](const Transfer& each) { return each.promise.planned.source; }));
}

std::uint32_t Transfers::into(NodeId node) const {
  return static_cast<std::uint32_t>(std::ranges::count(
      under_way_, node, [](const Transfer& each) { return each.promise.planned.destination; }));
}

}  // namespace cleave::rehearse
