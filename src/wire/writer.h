// Appending writers of RESP2.
//
// Threads: pure functions. No allocation but the string's own growth.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace cleave::wire {

void append_status(std::string& out, std::string_view text);  // CR and LF in it become spaces
void append_error(std::string& out, std::string_view text);   // the same; `text` is without '-'
void append_integer(std::string& out, std::int64_t value);
void append_bulk(std::string& out, std::string_view bytes);
void append_null(std::string& out);  // the null bulk, "$-1"
void append_array_header(std::string& out, std::size_t elements);

// A request: an array of bulks.
void append_command(std::string& out, std::span<const std::string_view> args);
std::string command(std::initializer_list<std::string_view> args);

}  // namespace cleave::wire
