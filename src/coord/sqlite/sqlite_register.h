// A Register in a local SQLite file: the embedded coordinator, beside one router (or a few
// processes of one machine).
//
// SQLite runs on a thread of its own: a commit waits for the disk, and no loop may. A change by
// this register is announced at once; one by another process within `poll`.
//
// Durable: WAL with synchronous=FULL. A compare-and-set that was answered survives a power cut.
// Threads: see coord/register.h; the file's thread is inside.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "coord/register.h"
#include "net/loop.h"

namespace cleave::coord {

class SqliteFile;

class SqliteRegister final : public Register {
 public:
  struct Options {
    std::string path;
    milliseconds poll{250};         // how often another process's changes are looked for
    milliseconds busy_timeout{2'000};  // waiting for another process's transaction
  };

  // Opens or creates the file. Errors: kUnavailable (not writable, no database, full disk, not
  // our schema), with the path and what to do.
  static Result<std::unique_ptr<SqliteRegister>> open(net::Loop& loop, Options options);
  ~SqliteRegister() override;

  void read(Done<Stored> done) override;
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override;
  void watch(std::function<void(const Stored&)> changed) override;
  void keep_alive(const SessionId& session, milliseconds ttl, Done<void> done) override;
  void end_lease(const SessionId& session, Done<void> done) override;
  void alive(Done<std::vector<SessionId>> done) override;

 private:
  class Worker;

  SqliteRegister(net::Loop& loop, Options options, std::unique_ptr<SqliteFile> file);

  // `job` runs on the file's thread, `done` here with what it returned.
  template <class T>
  void call(std::function<Result<T>(SqliteFile&)> job, Done<T> done);
  void poll();
  void announce(const Stored& stored);

  net::Loop& loop_;
  Options options_;
  std::function<void(const Stored&)> watcher_;
  Epoch announced_;
  std::shared_ptr<void> alive_ = std::make_shared<int>();
  std::unique_ptr<Worker> worker_;
};

}  // namespace cleave::coord
