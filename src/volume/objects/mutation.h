// Rules of coordination that a test breaks on purpose, one at a time, to show that the simulation
// of several nodes finds it. In the program itself none is ever broken: the question is a constant.
#pragma once

#include <cstdint>

namespace orrery {

enum class Mutation : uint8_t {
  none,
  // Leases.
  no_revoke_wait,     // a lease is ended as soon as it is seen
  lease_from_answer,  // the holder counts from the answer to a renewal, not from its sending
  observe_from_send,  // who ends a lease counts from sending its read of the row
  no_drift_margin,    // who ends a lease waits no longer than the lease, whatever the clocks
  revoke_uncompared,  // revoking does not compare the row that was seen
  wait_not_own,       // a row that another revoked is ended without a wait of one's own
  raise_unannounced,  // a version is written after reading the rows, without announcing it first
  // Claims.
  claim_without_over,  // the owner's lease is not looked at
  claim_uncompared,    // the epoch is raised without comparing it
  no_append_guard,     // appends do not compare the epoch
  unguarded_link,      // changes of a root do not compare the epoch
  no_seal,             // logs that were found are not sealed
  list_before_claim,   // logs are listed before the epoch is raised
  seal_after_reading,  // logs are sealed after they were read
  // Serving, in the simulation's own partitions.
  no_lease_check,         // strong reads do not look at the lease
  check_before_sample,    // they do so before the state is read
  serve_while_releasing,  // reads go on while the release is under way
  ack_unknown,            // an append without an answer is acknowledged
  fail_unknown,           // an append without an answer is told as failed
  // Following.
  fresh_as_of_answer,   // a copy of the catalog counts as of the answer, not of the question
  news_without_lease,   // the owner of the catalog answers without looking at its lease
  no_barrier,           // what must be known everywhere is acknowledged at its commit
  barrier_of_the_live,  // nodes whose lease is revoked, and not over, are not waited for
  // Splits, in the simulation's own catalog.
  writes_while_cloning,  // the parent takes writes while its clones are made
  publish_unintended,    // a split is published whose intent was ended by a later owner
  publish_first,         // the map names clones that are made after
  serve_before_noting,   // a partition is served before the catalog has ended earlier splits
  forget_published,      // a split counts as published only while its left child is there
  resume_in_doubt,       // without an answer to its publishing, the parent goes on
  change_without_lease   // the catalog's owner answers without a commit, nor a look at its lease
};

#ifdef ORRERY_MUTATIONS
inline Mutation mutation_under_test = Mutation::none;
inline bool is_mutated(Mutation mutation) {
  return mutation_under_test == mutation;
}
#else
constexpr bool is_mutated(Mutation /*mutation*/) {
  return false;
}
#endif

}  // namespace orrery
