// The registry of the router's own answers. What routes, COMMAND with its subcommands, CLEAVE.HELP
// and the table of docs/commands.md come out of it.
//
// A new one: a file that defines its Answer, and its name in both lists below.
//
// Threads: constants.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/answers/answer.h"
#include "route/command_table.h"
#include "wire/reply.h"

namespace cleave::proxy {

extern const Answer kAuthAnswer;
extern const Answer kClientAnswer;
extern const Answer kCommandAnswer;
extern const Answer kDiscardAnswer;
extern const Answer kEchoAnswer;
extern const Answer kExecAnswer;
extern const Answer kHelloAnswer;
extern const Answer kInfoAnswer;
extern const Answer kMultiAnswer;
extern const Answer kPingAnswer;
extern const Answer kQuitAnswer;
extern const Answer kResetAnswer;
extern const Answer kSelectAnswer;
extern const Answer kTimeAnswer;
extern const Answer kCleaveHelpAnswer;
extern const Answer kCleaveWhereAnswer;

inline constexpr std::array kAnswers{
    &kAuthAnswer,   &kClientAnswer, &kCommandAnswer,    &kDiscardAnswer,
    &kEchoAnswer,   &kExecAnswer,   &kHelloAnswer,      &kInfoAnswer,
    &kMultiAnswer,  &kPingAnswer,   &kQuitAnswer,       &kResetAnswer,
    &kSelectAnswer, &kTimeAnswer,   &kCleaveHelpAnswer, &kCleaveWhereAnswer,
};

// A name and its value, as a map in RESP2 has them.
void append_pair(std::string& out, std::string_view name, std::string_view value);
void append_pair(std::string& out, std::string_view name, std::int64_t value);

// For route::CommandTable: each with its place in kAnswers.
std::vector<route::OwnCommand> own_commands();

// By a command's name in any case.
bool needs_no_password(std::string_view name);

// A server's reply to COMMAND with the entries of our commands behind its own, in the form that it
// uses itself (Redis 6.2: without key specifications).
std::string with_our_entries(std::string raw, const wire::Reply& told);

// An entry of COMMAND DOCS: the name and the map behind it.
void append_docs(std::string& out, const Answer& answer);

// "CLEAVE.WHERE key".
std::string usage(const Answer& answer);

// A table of all of them, in Markdown.
std::string answers_table();

}  // namespace cleave::proxy
