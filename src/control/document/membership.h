// Membership: one session's place in the document (protocol rules 2, 5, 9).
//
// It joins by a compare-and-set that adds the session, takes the document of that compare-and-set
// as its first view, and publishes every later one. It answers the Gate of the data path: a
// connection may be used once a linearizable read, begun after its handshake, shows the session.
//
// Threads: one loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backend/pipe.h"
#include "base/result.h"
#include "control/document/document_writer.h"
#include "net/loop.h"
#include "ring/edits/edits.h"
#include "ring/view/view.h"

namespace cleave::control {

class Membership final : public backend::Gate {
 public:
  struct Options {
    SessionId session;
    std::string peer_address{};  // see DocumentOptions
    ring::Creation creation;
    // Whether a first document may be made where there is none (first_ring.h); the error is
    // what a person is told meanwhile. Empty: it may.
    std::function<void(std::function<void(Result<void>)>)> may_create{};
    std::function<void(ring::RingSnapshot)> publish;
    std::function<void(const Error&)> removed;
    std::function<void(const std::string&)> log;
    Mutations mutations{};
  };

  Membership(net::Loop& loop, DocumentWriter& writer, Options options);

  // Creates the document where there is none and may be, then joins. Tries until it succeeds.
  void join(std::function<void()> joined);
  // Why no document is made and nothing joined; empty: for no reason of this kind.
  const std::string& held() const { return held_; }
  // A clean stop: the session leaves the document; `removed` is not called for it.
  void leave(std::function<void(Result<SharedDocument>)> left);
  // To be told of every document (DocumentWriter's `seen`).
  void follow(const SharedDocument& document);

  bool is_member() const { return view_ != nullptr && !removed_; }
  // nullptr before the join.
  const ring::RingSnapshot& view() const { return view_; }

  const SessionId& session() const override { return options_.session; }
  void confirm(std::function<void(Result<void>)> done) override;

 private:
  void create_then_join(std::function<void()> joined);
  void create(std::function<void()> joined);
  void hold(const Error& why, std::function<void()> joined);
  void join_later(milliseconds after, std::function<void()> joined);
  void publish(const SharedDocument& document);
  void be_removed(const std::string& why);

  net::Loop& loop_;
  DocumentWriter& writer_;
  Options options_;
  ring::RingSnapshot view_;
  bool removed_ = false;
  std::string held_;
  std::optional<Code> held_by_;  // told so far
  bool asked_again_ = false;     // the document, since servers spoke against a first one
  std::shared_ptr<void> alive_ = std::make_shared<int>();
};

}  // namespace cleave::control
