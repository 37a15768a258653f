// What routers say to each other about moves and heat (peer/router_peer.h), as bytes.
//
// A question is POST /peer/v1/<name> with a MessagePack map as its body; an answer is status 200
// with another, or an error {"code", "message"} with a status from 400 on. Keys are byte strings,
// which is why it is not JSON. A reader passes over fields that it does not know, so that a newer
// version may add some; what it would misunderstand gets a version, and a path, of its own
// (docs/formats/peer-api.md).
//
// Pure. Errors of every reader: kInvalid, names the field. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "heat/cost.h"
#include "heat/report.h"
#include "peer/router_peer.h"

namespace cleave::peer {

inline constexpr std::uint32_t kVersion = 1;  // newest that this build asks and answers
inline constexpr std::string_view kPathStart = "/peer/v1/";

// The names of the questions, as the path ends.
inline constexpr std::string_view kAwaitCopying = "await_copying";
inline constexpr std::string_view kTake = "take";
inline constexpr std::string_view kAwaitFenced = "await_fenced";
inline constexpr std::string_view kTakeHeat = "take_heat";
inline constexpr std::string_view kCountKeys = "count_keys";

// `to` is whom it is meant for: another life of that process must not answer.
struct Question {
  SessionId to;
  MoveId move = {};  // 0, and what follows, where the question has none
  Epoch phase_epoch = {};
  std::uint64_t number = 0;
  heat::CommandPrices prices = {};      // of take_heat
  std::vector<std::string> watch = {};  // of take

  friend bool operator==(const Question&, const Question&) = default;
};

std::string write_question(const Question& question);
Result<Question> read_question(std::string_view bytes);

// The answer to await_copying says nothing.
std::string write_done();

std::string write_batch(const DirtyBatch& batch);
Result<DirtyBatch> read_batch(std::string_view bytes);

std::string write_fenced(const FencedAck& ack);
Result<FencedAck> read_fenced(std::string_view bytes);

std::string write_reports(const std::vector<heat::Report>& reports);
Result<std::vector<heat::Report>> read_reports(std::string_view bytes);

std::string write_count(const std::uint64_t& keys);
Result<std::uint64_t> read_count(std::string_view bytes);

std::string write_error(const Error& error);
// What the other side refused, or that its refusal cannot be read.
Error read_error(std::string_view bytes);

}  // namespace cleave::peer
