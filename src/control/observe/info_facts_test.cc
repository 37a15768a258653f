#include "control/observe/info_facts.h"

#include <gtest/gtest.h>

namespace cleave::control {
namespace {

TEST(InfoFacts, TellTheDatabasesThatNoClientReaches) {
  const std::vector<OtherDatabase> found = other_databases(
      "# Keyspace\r\ndb0:keys=5,expires=0,avg_ttl=0\r\n"
      "db3:keys=12,expires=1,avg_ttl=9\r\ndb15:keys=1,expires=0\r\n");
  EXPECT_EQ(found,
            (std::vector<OtherDatabase>{{.number = 3, .keys = 12}, {.number = 15, .keys = 1}}));
  EXPECT_EQ(describe(found), "database 3 (12 keys), database 15 (1 key)");
  EXPECT_TRUE(other_databases("").empty());
  EXPECT_TRUE(other_databases("# Keyspace").empty());
}

// What only reads makes up no key; neither does a command whose name only begins like one of them.
TEST(InfoFacts, TellTheScriptsThatMayHaveWritten) {
  const std::vector<ScriptCalls> found = script_calls(
      "# Commandstats\r\ncmdstat_get:calls=9,usec=5\r\n"
      "cmdstat_eval:calls=120,usec=800,usec_per_call=6.67\r\ncmdstat_eval_ro:calls=4,usec=1\r\n"
      "cmdstat_evalsha:calls=0,usec=0\r\ncmdstat_fcall:calls=1,usec=2\r\n"
      "cmdstat_fcall_ro:calls=7,usec=2\r\ncmdstat_script|load:calls=3,usec=2\r\n");
  EXPECT_EQ(found, (std::vector<ScriptCalls>{{.command = "eval", .calls = 120},
                                             {.command = "fcall", .calls = 1}}));
  EXPECT_EQ(describe(found), "eval 120 times, fcall once");
  EXPECT_TRUE(script_calls("").empty());
  EXPECT_TRUE(script_calls("cmdstat_eval").empty());
  EXPECT_TRUE(script_calls("# Commandstats\r\ncmdstat_").empty());
}

}  // namespace
}  // namespace cleave::control
