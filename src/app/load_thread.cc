#include "app/load_thread.h"

#include <chrono>
#include <utility>

namespace cleave::app {

LoadThread::LoadThread(load::Generator::Options options)
    : loop_(net::make_loop()),
      generator_(std::make_unique<load::Generator>(*loop_, std::move(options))),
      report_(finished_.get_future()) {
  generator_->start([this](const load::Report& report) { finished_.set_value(report); });
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
T LoadThread::ask(const std::function<T(load::Generator&)>& question) {
  std::promise<T> answer;
  std::future<T> future = answer.get_future();
  loop_->post([&] { answer.set_value(question(*generator_)); });
  return future.get();
}

load::Phase LoadThread::phase() {
  return ask<load::Phase>([](load::Generator& generator) { return generator.phase(); });
}

load::Generator::Progress LoadThread::progress() {
  return ask<load::Generator::Progress>([](load::Generator& g) { return g.progress(); });
}

load::Histogram LoadThread::take_latency() {
  return ask<load::Histogram>([](load::Generator& generator) { return generator.take_latency(); });
}

std::vector<std::uint64_t> LoadThread::shares() {
  return ask<std::vector<std::uint64_t>>([](load::Generator& g) { return g.shares(); });
}

void LoadThread::move_to(const net::Address& address) {
  loop_->post([this, address] { generator_->move_to({address}); });
}

bool LoadThread::has_moved() {
  return ask<bool>([](load::Generator& generator) { return generator.has_moved(); });
}

void LoadThread::stop() {
  loop_->post([this] { generator_->stop(); });
}

load::Report LoadThread::wait() { return report_.get(); }

bool LoadThread::done() const {
  return report_.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

}  // namespace cleave::app
