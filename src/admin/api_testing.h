// For the tests of admin: requests and their answers, an operator and a data path that remember
// what was asked of them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "admin/api.h"
#include "admin/past_decisions.h"
#include "ring/edits/edits.h"

namespace cleave::admin {

// What net/http.h makes of a target without escapes.
net::HttpRequest request_of(const std::string& method, const std::string& target,
                            const std::string& body = "", const std::string& authorization = "");

// Of one that is answered at once, as the test demands.
net::HttpResponse answer_to(Api& api, const net::HttpRequest& request);

// Two nodes, a and b, with one cut; every order is noted as text and answered with `answer`.
class RecordingOperator final : public control::Operator,
                                public control::MoveOrders,
                                public control::RangeOrders,
                                public control::NodeOrders,
                                public control::PoolOrders,
                                public control::StrayOrders {
 public:
  template <class T>
  using Done = control::Done<T>;

  RecordingOperator();

  control::MoveOrders& moves() override { return *this; }
  control::RangeOrders& ranges() override { return *this; }
  control::NodeOrders& nodes() override { return *this; }
  control::PoolOrders& pool() override { return *this; }
  control::StrayOrders& strays() override { return *this; }

  control::Status status() const override { return state; }
  void when_settled(Done<void> told) override { settled = std::move(told); }
  void move(ring::MoveRequest request, Done<MoveId> done) override;
  void abort(MoveId move, Done<void> done) override;
  void abort_all(Then then, Done<std::uint64_t> done) override;
  void take_back(MoveId move, Done<MoveId> done) override;
  void give_up(MoveId move, GiveUp how, Done<void> done) override;
  void allow_old_readers(Done<void> done) override;
  void cut(control::CutOrder order, Done<void> done) override;
  void merge(ring::TokenRange range, Done<void> done) override;
  void freeze(bool frozen, Done<void> done) override;
  void set_mode(ring::Mode mode, Done<void> done) override;
  void approve(std::string plan, Done<std::uint64_t> done) override;
  void add_node(ring::Node node, Done<NodeId> done) override;
  void drain_node(NodeId node, Done<void> done) override;
  void undrain_node(NodeId node, Done<void> done) override;
  void set_weight(NodeId node, std::uint32_t weight, Done<void> done) override;
  void remove_node(NodeId node, control::Force force, Done<void> done) override;
  void presplit(control::PresplitOrder order, Done<control::Presplit> done) override;
  void forget(std::string event, Done<void> done) override;
  void flatten(Done<std::uint64_t> done) override;
  void survey(Done<control::Survey> done) override;
  void adopt(control::AdoptOrder order, Done<void> done) override;
  void list_strays(Done<control::StrayList> done) override;
  void move_strays(control::StrayPage from, Done<control::StraysHandled> done) override;
  void read_strays(control::StrayPage from, Done<control::StrayDumps> done) override;
  void accept_strays(Done<std::uint64_t> done) override;
  void remove_strays(NodeId node, std::vector<control::StrayDump> dumps,
                     Done<control::StraysHandled> done) override;

  control::Status state;
  Result<void> answer;
  Done<void> settled;
  std::vector<std::string> orders;

 private:
  template <class T>
  void note(std::string order, const Done<T>& done, T value);
  void note(std::string order, const Done<void>& done);
};

// A data path with one client and node b down.
class RecordingRouter final : public RouterFacts {
 public:
  bool serving() const override { return serves; }
  std::vector<proxy::NodeHealth> health() const override;
  void stats(std::function<void(proxy::RouterStats)> done) override;
  ProcessUsage usage() const override;
  const StateBook& states() const override { return book; }
  const PastDecisions* past_decisions() const override { return &past; }
  void identify(const net::Address& address,
                std::function<void(Result<std::string>)> done) override {
    addresses_asked.push_back(net::to_string(address));
    const auto found = servers.find(net::to_string(address));
    done(found == servers.end() ? identified : Result<std::string>(found->second));
  }

  StateBook book;
  PastDecisions past;
  std::vector<std::string> addresses_asked;
  std::map<std::string, std::string> servers;               // run ids, by address
  Result<std::string> identified = std::string("run-new");  // the server of a node that joins
  bool serves = true;
};

}  // namespace cleave::admin
