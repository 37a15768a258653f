// The suite of coordinators that are servers: what their death, their sleep and a broken way to
// them do to a register. The tests of register_faults_test.cc run for each that instantiates them.
#pragma once

#include "coord/register_conformance.h"
#include "coord/server_testing.h"

namespace cleave::coord {

// A RegisterWorld whose server the test may end, stop and start.
class ServerWorld : public RegisterWorld {
 public:
  // Through the forwarder only.
  virtual std::unique_ptr<Register> attach_by(net::Loop& loop, const Forwarder& way) = 0;
  virtual net::Address address() const = 0;
  virtual ServerProcess& process() = 0;
  // After process().kill(), with the same data on the same port.
  virtual void start_again() = 0;
};

using MakeServerWorld = std::unique_ptr<ServerWorld> (*)();

class RegisterFaults : public ::testing::TestWithParam<MakeServerWorld>, protected RegisterCalls {
 protected:
  void SetUp() override {
    if (HasFailure()) FAIL() << "there is no world to test in";
  }

  std::unique_ptr<ServerWorld> world_ = GetParam()();
};

}  // namespace cleave::coord
