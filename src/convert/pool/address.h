// Addresses as peers write them, and as cleave does: "host:port", "[::1]:port".
//
// Pure; nothing is resolved. Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave::convert {

// From its two halves; an IPv6 host with or without its brackets. Errors: kInvalid, names the text,
// for a host of other characters than an address may have and for a port outside 1..65535.
Result<std::string> join_address(std::string_view host, std::string_view port);

// From "host:port". Errors as above.
Result<std::string> read_address(std::string_view text);

// The same without the brackets of an IPv6 host, as programs write it that take what stands behind
// the last colon for the port.
std::string without_brackets(std::string_view address);

// Whether only this machine can connect to the address.
bool is_loopback(std::string_view address);

// Whether the host is an IP address, and no name that has to be resolved.
bool is_numeric_host(std::string_view address);

}  // namespace cleave::convert
