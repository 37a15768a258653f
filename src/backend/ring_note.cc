#include "backend/ring_note.h"

#include "base/ascii.h"
#include "base/to_number.h"

namespace cleave::backend {
namespace {

void take_line(RingNote& note, std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view name = line.substr(0, space);
  const std::string_view value = line.substr(space + 1);
  if (name == "pool") note.pool = value;
  if (name == "ring") note.ring = value;
  if (name == "node") note.node = value;
  // It goes into the ring document, where it has to be a word.
  if (name == "server" && is_plain_name(value)) note.server = value;
  if (name == "epoch") note.epoch = Epoch{cleave::to_number<std::uint64_t>(value).value_or(0)};
  if (name == "adopted")
    note.adopted = UnixMillis{cleave::to_number<std::int64_t>(value).value_or(0)};
  if (name == "written")
    note.written = UnixMillis{cleave::to_number<std::int64_t>(value).value_or(0)};
}

}  // namespace

std::string to_text(const RingNote& note) {
  return "pool " + note.pool + "\nring " + note.ring + "\nnode " + note.node + "\nserver " +
         note.server + "\nepoch " + std::to_string(note.epoch.value()) + "\nadopted " +
         std::to_string(note.adopted.value()) + "\nwritten " +
         std::to_string(note.written.value()) + "\n";
}

RingNote parse_ring_note(std::string_view text) {
  RingNote note;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take_line(note, text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return note;
}

}  // namespace cleave::backend
