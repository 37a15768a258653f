#include "route/touched_elements.h"

#include <gtest/gtest.h>

#include "route/testdata_test.h"

namespace cleave::route {
namespace {

struct Case {
  std::string line;
  std::vector<std::string> elements;
};

TEST(TouchedElements, AreThoseThatAWriteNames) {
  for (const Case& each : std::vector<Case>{
           {"HSET h f 1", {"f"}},
           {"hset h b 1 a 2 b 3", {"a", "b"}},
           {"HMSET h a 1 b 2", {"a", "b"}},
           {"HSETNX h f v", {"f"}},
           {"HINCRBY h f 1", {"f"}},
           {"HINCRBYFLOAT h f 1.5", {"f"}},
           {"HDEL h a b c", {"a", "b", "c"}},
           {"SADD s x y", {"x", "y"}},
           {"SREM s x", {"x"}},
           {"SMOVE from to x", {"x"}},
           {"ZADD z 1 m 2 n", {"m", "n"}},
           {"ZADD z XX GT CH 1 m", {"m"}},
           {"ZADD z NX INCR 5 m", {"m"}},
           {"ZADD z 1 NX", {"NX"}},
           {"ZINCRBY z 2 m", {"m"}},
           {"ZREM z m n", {"m", "n"}},
           {"HEXPIRE h 10 FIELDS 2 a b", {"a", "b"}},
           {"HPEXPIREAT h 10 NX fields 1 FIELDS", {"FIELDS"}},
           {"HPERSIST h FIELDS 1 a", {"a"}},
           {"HGETEX h EX 10 FIELDS 1 a", {"a"}},
           {"HGETDEL h FIELDS 2 a b", {"a", "b"}},
           {"HSETEX h FNX EX 10 FIELDS 2 a 1 b 2", {"a", "b"}},
       }) {
    EXPECT_EQ(touched_elements(words(each.line)), each.elements) << each.line;
  }
}

// What is not known for certain is the whole key, which is always right.
TEST(TouchedElements, AnythingElseTouchesTheWholeKey) {
  for (const std::string line : {"DEL h",
                                 "EXPIRE h 10",
                                 "PERSIST h",
                                 "RENAME h g",
                                 "SPOP s",
                                 "ZPOPMIN z",
                                 "LPUSH l x",
                                 "ZREMRANGEBYRANK z 0 1",
                                 "EVAL script 1 h",
                                 "SET h v",
                                 "XADD x * f v",
                                 "HSET h f",
                                 "HSET h",
                                 "HSET h f 1 g",
                                 "ZADD z 1",
                                 "ZADD z NX",
                                 "ZADD z 1 m 2",
                                 "HEXPIRE h 10 FIELDS 3 a",
                                 "HEXPIRE h 10 FIELDS x a",
                                 "HEXPIRE h 10 a",
                                 "HSETEX h FIELDS 1 a",
                                 "SMOVE a b",
                                 "SUNIONSTORE d a b",
                                 "RESTORE h 0 x REPLACE"}) {
    EXPECT_TRUE(touched_elements(words(line)).empty()) << line;
  }
}

}  // namespace
}  // namespace cleave::route
