#include "app/demo/load_thread.h"

#include <chrono>
#include <utility>

namespace cleave::app {

LoadThread::LoadThread(loadgen::Generator::Options options)
    : loop_(net::make_loop()),
      generator_(std::make_unique<loadgen::Generator>(*loop_, std::move(options))),
      report_(finished_.get_future()) {
  generator_->start([this](const loadgen::Report& report) { finished_.set_value(report); });
  thread_ = std::thread([this] { loop_->run(); });
}

// The generator goes on its own loop: its streams must not outlive that.
LoadThread::~LoadThread() {
  loop_->post([this] {
    generator_.reset();
    loop_->stop();
  });
  thread_.join();
}

template <class T>
T LoadThread::ask(const std::function<T(loadgen::Generator&)>& question) {
  std::promise<T> answer;
  std::future<T> future = answer.get_future();
  loop_->post([&] { answer.set_value(question(*generator_)); });
  return future.get();
}

loadgen::Phase LoadThread::phase() {
  return ask<loadgen::Phase>([](loadgen::Generator& generator) { return generator.phase(); });
}

loadgen::Generator::Progress LoadThread::progress() {
  return ask<loadgen::Generator::Progress>([](loadgen::Generator& g) { return g.progress(); });
}

loadgen::Histogram LoadThread::take_latency() {
  return ask<loadgen::Histogram>(
      [](loadgen::Generator& generator) { return generator.take_latency(); });
}

std::vector<std::uint64_t> LoadThread::shares() {
  return ask<std::vector<std::uint64_t>>([](loadgen::Generator& g) { return g.shares(); });
}

void LoadThread::move_to(const net::Address& address) {
  loop_->post([this, address] { generator_->move_to({address}); });
}

bool LoadThread::has_moved() {
  return ask<bool>([](loadgen::Generator& generator) { return generator.has_moved(); });
}

void LoadThread::stop() {
  loop_->post([this] { generator_->stop(); });
}

loadgen::Report LoadThread::wait() { return report_.get(); }

bool LoadThread::done() const {
  return report_.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

}  // namespace cleave::app
