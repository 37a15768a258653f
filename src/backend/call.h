// call: one command through a Pipe with lambdas instead of a sink. For the control side, never for
// the data path: it allocates, and parses the reply into a tree.
//
// Threads: the pipe's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "backend/pipe.h"
#include "base/result.h"
#include "wire/resp.h"

namespace cleave::backend {

using ReplyDone = std::function<void(Result<wire::Reply>)>;

// Sends once; never again, whatever happens. `done` runs once: with the reply (an error reply is a
// reply), or with kUnavailable, kTimeout or kExhausted. `finished` runs once, after or right behind
// `done`, when the command is finished by protocol rule 6. When the pipe is destroyed first, what
// has not run by then never does.
void call(Pipe& pipe, std::string_view bytes, ReplyDone done,
          std::function<void()> finished = nullptr, std::uint32_t replies = 1);

// The same, with the reply as received.
void call_raw(Pipe& pipe, std::string_view bytes, std::function<void(Result<std::string>)> done,
              std::function<void()> finished = nullptr, std::uint32_t replies = 1);

}  // namespace cleave::backend
