// A load generator on a thread of its own, for whoever has other things to look at meanwhile.
//
// Threads: the functions may be called from one thread that is not its own.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "loadgen/generator.h"
#include "net/asio_loop.h"

namespace cleave::app {

class LoadThread {
 public:
  // Begins at once.
  explicit LoadThread(loadgen::Generator::Options options);
  // Ends the load, if it did not end.
  ~LoadThread();
  LoadThread(const LoadThread&) = delete;
  LoadThread& operator=(const LoadThread&) = delete;

  loadgen::Phase phase();
  loadgen::Generator::Progress progress();
  // Latencies of the measured phase since the last call, in microseconds.
  loadgen::Histogram take_latency();
  std::vector<std::uint64_t> shares();
  // The clients go over to that address; `has_moved` tells when all have.
  void move_to(const net::Address& address);
  bool has_moved();
  // Ends the measured phase; filling, too.
  void stop();
  // Waits until everything is swept.
  loadgen::Report wait();
  bool done() const;

 private:
  // Asks on the generator's thread and waits for the answer.
  template <class T>
  T ask(const std::function<T(loadgen::Generator&)>& question);

  std::unique_ptr<net::AsioLoop> loop_;
  std::unique_ptr<loadgen::Generator> generator_;
  std::promise<loadgen::Report> finished_;
  std::shared_future<loadgen::Report> report_;
  std::thread thread_;
};

}  // namespace cleave::app
