// What holds of a move between any two events, whatever they were: the rules of
// docs/formats/move-protocol.md, as far as one end of them can be seen from here.
#include <algorithm>

#include "base/check.h"
#include "migrate/migration.h"

namespace cleave::migrate {

void Migration::check_rules() const {
  check_phase();
  check_copies();
  check_end();
}

// Rules 1, 4, 12, 14 and 17: before its compare-and-set nothing else happens; acknowledgements
// belong to one phase, and are those of members.
void Migration::check_phase() const {
  const bool begun = id_ != MoveId{};
  CHECK(begun == (step_ > Step::kBegin) || step_ == Step::kOver);
  CHECK(copying_epoch_ == (takes_back_ ? Epoch{} : Epoch{id_.value()}));
  CHECK(!takes_back_ || fenced_epoch_ == Epoch{id_.value()});
  CHECK(takes_back_ || fenced_epoch_ == Epoch{} || copying_epoch_ < fenced_epoch_);
  CHECK(copying_epoch_ <= seen_ && fenced_epoch_ <= seen_);
  const bool fenced = fenced_epoch_ != Epoch{};
  const bool in_fence = step_ >= Step::kAwaitFenced && step_ <= Step::kCommit;
  CHECK(!in_fence || fenced);
  CHECK(fenced == (progress_.fenced != Instant{0}));
  CHECK(std::ranges::includes(members_, waiting_));
  CHECK(step_ != Step::kFence || waiting_.empty());
  // Rule 12, of the two servers as they were met.
  if (!begun) return;
  CHECK(source_.incarnation.run_id != destination_.incarnation.run_id);
  CHECK(source_.incarnation.replication_id != destination_.incarnation.replication_id);
  CHECK(source_.primary && destination_.primary);
  CHECK(source_.marked && destination_.marked);
}

// Rules 13, 15, 16, 18 and 27: what is copied, and when nothing is any more.
void Migration::check_copies() const {
  const bool scans_on = step_ == Step::kScan || step_ == Step::kRounds;
  const bool copies = scans_on || step_ == Step::kLastCopies;
  const bool ends = step_ == Step::kAbort || step_ == Step::kOver;
  CHECK(copies_open_ == 0 || copies || ends);
  // No copy without an entry that says where it lies.
  CHECK(copies_open_ == 0 || entered_);
  CHECK(!scan_open_ || step_ == Step::kScan || ends);
  CHECK(step_ == Step::kScan || scan_ended_ || step_ < Step::kScan || takes_back_ || ends);
  CHECK(take_number_ == 0 || step_ >= Step::kScan);
  CHECK(step_ != Step::kRounds || in_pieces_.empty() || copies_open_ > 0);
  CHECK(pending_.keys() + pending_.elements() <= options_.limits.driver_keys_max || ends);
  // A fence begins when nothing waits, and from the last copies on nothing is left.
  CHECK(step_ != Step::kFence || pending_.empty());
  const bool all_there = step_ == Step::kLastCopies || step_ == Step::kReplicas ||
                         step_ == Step::kVerify || step_ == Step::kCommit;
  CHECK(!all_there || takes_back_ || pending_.empty());
  CHECK(!all_there || waiting_.empty());
  CHECK(step_ != Step::kReplicas || destination_.replicas > 0);
  // A taking back copies nothing, and asks nobody to note anything (rule 26).
  CHECK(!takes_back_ || (copies_open_ == 0 && take_number_ == 0 && progress_.keys_copied == 0));
}

// Rules 19 to 22: how it ends.
void Migration::check_end() const {
  CHECK(step_ != Step::kCommit || takes_back_ || looked_again_);
  CHECK(step_ != Step::kAbort || !outcome_.why.empty());
  CHECK(outcome_.committed == (progress_.committed != Instant{0}));
  CHECK(!outcome_.committed || is_over());
  CHECK(!outcome_.committed || outcome_.why.empty());
  CHECK(outcome_.committed || !is_over() || !outcome_.why.empty());
  CHECK(abort_wanted_.empty() || step_ == Step::kBegin || step_ >= Step::kAbort);
}

}  // namespace cleave::migrate
