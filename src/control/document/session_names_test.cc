#include "control/document/session_names.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

constexpr std::string_view kClients =
    "id=3 addr=127.0.0.1:5 laddr=127.0.0.1:6 fd=8 name=cleave:r1 age=1 db=0 resp=2\n"
    "id=4 addr=127.0.0.1:7 laddr=127.0.0.1:6 fd=9 name=cleave:r2.t4 age=1 db=0 resp=2\n"
    "id=5 addr=127.0.0.1:8 laddr=127.0.0.1:6 fd=10 name= age=1 db=0 resp=2\n"
    "id=6 addr=127.0.0.1:9 laddr=127.0.0.1:6 fd=11 name=batch-job age=1 db=0 resp=2\n"
    "id=7 addr=127.0.0.1:9 laddr=127.0.0.1:6 fd=12 name=cleave:r9 age=1 db=0 resp=2\n";

TEST(SessionNames, FindsOnlyOurOwnConnectionsOfSessionsThatAreNotShown) {
  EXPECT_EQ(strangers(kClients, {"cleave:r1", "cleave:r2.t4"}), std::vector<std::string>{"7"});
}

TEST(SessionNames, NobodyElsesConnectionIsEverNamed) {
  EXPECT_EQ(strangers(kClients, {}), (std::vector<std::string>{"3", "4", "7"}));
}

TEST(SessionNames, AnEarlierTermIsAStranger) {
  EXPECT_EQ(strangers(kClients, {"cleave:r1", "cleave:r2.t5", "cleave:r9"}),
            std::vector<std::string>{"4"});
}

TEST(SessionNames, ADriverIsNamedAfterItsTerm) {
  EXPECT_EQ(driver_session(SessionId{"r1"}, Term{7}).value(), "r1.t7");
  EXPECT_EQ(connection_name(SessionId{"r1.t7"}), "cleave:r1.t7");
}

}  // namespace
}  // namespace cleave::control
