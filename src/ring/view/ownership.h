// Who owns what in a document, before it is made fast to look up: base, cuts laid over it, and the
// arithmetic of cuts that edits are made of. For the files of this folder.
//
// Pure. Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ring/arc_table.h"
#include "ring/document/document.h"
#include "ring/token_range.h"
#include "ring/view/diff.h"
#include "ring/view/view.h"

namespace cleave::ring {

// The base by the document's scheme. Requires: a valid document. Cost: O(points log points).
std::vector<Arc> base_of(const Document& document);

// Entries without moves: every token once, sorted. Requires: `base` covers everything; `cuts`
// sorted and disjoint. Cost: O(both).
std::vector<Entry> overlay(std::span<const Arc> base, std::span<const Cut> cuts);

// The owners of the entries; neighbours of one owner are joined.
std::vector<Arc> owners(std::span<const Entry> entries);

// Base and cuts together. Requires: a valid document.
std::vector<Arc> owners(const Document& document);

// Requires: `arcs` covers everything; `ranges` canonical. Cost: O(ranges x log arcs + matches).
bool owns_all(std::span<const Arc> arcs, NodeId node, const RangeSet& ranges);

// Where two coverings of all tokens differ, as ring/view/diff.h says.
std::vector<Change> differences(std::span<const Arc> before, std::span<const Arc> after);

// Takes the tokens of `hole` out of all cuts. What is left of a cut keeps everything else of it.
void carve(std::vector<Cut>& cuts, const TokenRange& hole);

// `carve`, then the new cut in its place.
void lay(std::vector<Cut>& cuts, const Cut& cut);

}  // namespace cleave::ring
