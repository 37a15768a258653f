// The product's handles on a simulated connection and a simulated listener.
#pragma once

#include <memory>
#include <string>

#include "net/loop.h"
#include "sim/network.h"

namespace cleave::sim {

class SimStream final : public net::Stream {
 public:
  SimStream(Network& network, std::shared_ptr<Network::Connection> connection, std::size_t side)
      : network_(network), connection_(std::move(connection)), side_(side) {}
  ~SimStream() override { network_.close(connection_, side_); }

  void start(net::StreamEvents& events) override {
    network_.start_reading(connection_, side_, events);
  }
  void send(std::string_view bytes) override { network_.send(connection_, side_, bytes); }
  std::size_t unsent() const override { return connection_->flows[side_].kept.size(); }
  std::uint64_t sent_total() const override { return connection_->flows[side_].handed_over; }
  void pause_reading() override { connection_->ends[side_].reading = false; }
  void resume_reading() override { network_.resume_reading(connection_, side_); }
  void close() override { network_.close(connection_, side_); }
  std::string peer() const override { return connection_->ends[1 - side_].address; }

 private:
  Network& network_;
  std::shared_ptr<Network::Connection> connection_;
  std::size_t side_;
};

// A simulated listening socket.
class SimListener final : public net::Listener {
 public:
  SimListener(Network& network, net::Address address, const SimLoop* loop)
      : network_(network), address_(std::move(address)), loop_(loop) {}
  ~SimListener() override { network_.unlisten(address_, loop_); }

  net::Address address() const override { return address_; }

 private:
  Network& network_;
  net::Address address_;
  const SimLoop* loop_;
};

}  // namespace cleave::sim
