// RESP2, incremental and without I/O: requests in, replies in, both out.
//
// Neither parser copies. The caller keeps the bytes that are not yet consumed in one piece and
// calls again with the same start and more of them; a parser remembers how far it got, so a large
// value that arrives in many pieces costs O(bytes), not O(bytes^2).
//
// Source: Redis protocol specification (RESP2); the limits are those of redis-server 7.
// Threads: one owner each.
#pragma once

#include "wire/reply.h"           // IWYU pragma: export
#include "wire/reply_scanner.h"   // IWYU pragma: export
#include "wire/request_parser.h"  // IWYU pragma: export
#include "wire/writer.h"          // IWYU pragma: export
