#include "net/poller.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace cleave::net {

Result<void> Poller::add(int fd, Pollable& pollable) {
  epoll_event wanted{};
  // Writing too, and from the start: asked for later it would cost a system call each time.
  // RDHUP, because after a short read nothing else would tell of a close that came with it.
  wanted.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  wanted.data.ptr = &pollable;
  if (::epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &wanted) == 0) return {};
  return fail(Code::kUnavailable, "epoll_ctl: " + std::generic_category().message(errno));
}

void Poller::forget(Pollable& pollable) {
  for (epoll_event& event : batch_)
    if (event.data.ptr == &pollable) event.data.ptr = nullptr;
  std::erase(again_, &pollable);
  std::ranges::replace(visiting_, &pollable, nullptr);
}

void Poller::dispatch() {
  const int count = ::epoll_wait(epoll_fd_, events_.data(), static_cast<int>(kBatch), 0);
  batch_ = std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
  while (!batch_.empty()) {
    const epoll_event event = batch_.front();
    batch_ = batch_.subspan(1);
    if (event.data.ptr != nullptr) static_cast<Pollable*>(event.data.ptr)->on_ready(event.events);
  }
  visiting_.swap(again_);
  for (Pollable*& pollable : visiting_)
    if (pollable != nullptr) std::exchange(pollable, nullptr)->on_ready(0);
  visiting_.clear();
}

}  // namespace cleave::net
