#include "sqlite/connection.h"

#include <gtest/gtest.h>

namespace cleave::sqlite {
namespace {

TEST(Connection, WhatWasBoundIsRead) {
  const Connection file(":memory:");
  ASSERT_TRUE(file.execute("CREATE TABLE t(a INTEGER, b INTEGER, c TEXT)"));
  Statement insert = file.prepare("INSERT INTO t VALUES(?1, ?2, ?3)");
  insert.bind(1, std::int64_t{-5});
  insert.bind(2, ~std::uint64_t{0});
  insert.bind(3, std::string_view("a\0b", 3));
  EXPECT_EQ(insert.step(), SQLITE_DONE);
  EXPECT_EQ(file.changes(), 1);
  Statement select = file.prepare("SELECT a, b, c FROM t");
  ASSERT_EQ(select.step(), SQLITE_ROW);
  EXPECT_EQ(select.integer(0), -5);
  EXPECT_EQ(select.natural(0), 0U);
  EXPECT_EQ(select.natural(1), ~std::uint64_t{0} >> 1U);
  EXPECT_EQ(select.text(2), std::string("a\0b", 3));
  EXPECT_EQ(select.step(), SQLITE_DONE);
}

TEST(Connection, ResetEndsTheTransactionOfAReader) {
  const Connection file(":memory:");
  ASSERT_TRUE(file.execute("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES(1)"));
  Statement select = file.prepare("SELECT a FROM t");
  {
    const Reset reset(select);
    ASSERT_EQ(select.step(), SQLITE_ROW);
    EXPECT_FALSE(file.execute("DROP TABLE t"));  // a reader holds it
    EXPECT_EQ(file.code(), SQLITE_LOCKED);
  }
  EXPECT_TRUE(file.execute("DROP TABLE t"));
}

TEST(Connection, AStatementThatIsNoneCannotStep) {
  const Connection file(":memory:");
  Statement wrong = file.prepare("SELEC 1");
  EXPECT_FALSE(wrong.good());
  EXPECT_NE(file.message().find("syntax error"), std::string::npos);
  wrong.bind(1, std::int64_t{1});
  EXPECT_EQ(wrong.step(), SQLITE_ERROR);
}

TEST(Connection, AFileThatCannotBeOpenedSaysWhy) {
  const Connection file("/nowhere/at/all.sqlite");
  EXPECT_EQ(file.code(), SQLITE_CANTOPEN);
  EXPECT_FALSE(file.message().empty());
}

TEST(Connection, KnowsAFullFile) {
  const Connection file(":memory:");
  ASSERT_TRUE(file.execute("PRAGMA max_page_count=3; CREATE TABLE t(a)"));
  EXPECT_FALSE(file.full());
  EXPECT_FALSE(file.execute("INSERT INTO t VALUES(zeroblob(100000))"));
  EXPECT_TRUE(file.full());
}

}  // namespace
}  // namespace cleave::sqlite
