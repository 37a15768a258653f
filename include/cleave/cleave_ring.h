/// @file
/// The C interface of libcleave-ring, for C and every language that can call it. C99.
///
/// What holds for every function here:
/// - No exception and no signal crosses the border: each failure is a status.
/// - A function that can fail returns a cleave_ring_status; where it takes a cleave_ring_error, a
///   failure fills it (NULL: the text is not wanted). Nothing has to be freed for it.
/// - What is made is given through a pointer and must be given to cleave_ring_free. After a failure
///   the pointer holds NULL.
/// - A ring is immutable: any number of threads may use one at once. Free it once, last.
/// - Texts are UTF-8 ended by a zero byte. Keys are any bytes, with their length.
/// - NULL where something is needed is CLEAVE_RING_INVALID, not a crash; a pointer to something
///   else than what is asked for, or a length beyond the memory, cannot be seen from here.
/// - Lists are written into the caller's buffer: `capacity` tells how many elements it takes (for
///   texts: bytes, the zero byte among them). `*count` becomes the number that there are. If they
///   do not all fit, none is written and the status is CLEAVE_RING_BUFFER_TOO_SMALL; so a call with
///   NULL and 0 asks how many there are, and the next one, with room, gets them: a ring does not
///   change.
///
/// The rules of placement, tokens and cuts are told in cleave/ring.hpp and docs/ring-library.md.
#ifndef CLEAVE_RING_H
#define CLEAVE_RING_H

#include <cleave/ring_export.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A ring; only ever handled by pointer.
typedef struct cleave_ring cleave_ring;

/// What a function returns. Values do not change.
typedef enum cleave_ring_status {
  CLEAVE_RING_OK = 0,                ///< Done.
  CLEAVE_RING_INVALID = 1,           ///< The input can never be right, such as NULL or weight 0.
  CLEAVE_RING_NOT_FOUND = 2,         ///< No such node; a key that has no token.
  CLEAVE_RING_LIMIT = 3,             ///< More nodes, points, cuts or bytes than a ring can have.
  CLEAVE_RING_BUFFER_TOO_SMALL = 4,  ///< The count tells how much is needed.
  CLEAVE_RING_NO_MEMORY = 5,         ///< Memory ran out; what was given is as it was.
  CLEAVE_RING_INTERNAL = 6           ///< A fault of the library.
} cleave_ring_status;

/// The node of a key that the peer places nowhere.
#define CLEAVE_RING_NOWHERE SIZE_MAX

/// The longest key, in bytes: that of a Redis server.
#define CLEAVE_RING_KEY_BYTES_MAX 536870912U

/// Filled when a function fails.
typedef struct cleave_ring_error {
  int32_t status;      ///< As returned.
  char message[1020];  ///< For a person; cut short if it does not fit.
} cleave_ring_error;

/// An option of a scheme, such as {"hash", "fnv1a_64"} (docs/schemes.md).
typedef struct cleave_ring_option {
  const char* name;   ///< Not NULL.
  const char* value;  ///< Not NULL; UTF-8, at most 1 MiB.
} cleave_ring_option;

/// A node.
typedef struct cleave_ring_node {
  const char* name;        ///< Unique, as the peer's configuration has it; at most 255 bytes.
  uint32_t weight;         ///< 1 to 1,000,000.
  const char* rack;        ///< Failure domain, for replicas; NULL and "" are none.
  const char* datacenter;  ///< For replicas; NULL and "" are none.
} cleave_ring_node;

/// A range of tokens of one owner; also a cut.
typedef struct cleave_ring_arc {
  uint64_t first;  ///< Inclusive.
  uint64_t last;   ///< Inclusive, not below `first`.
  size_t node;     ///< Index of the owner.
} cleave_ring_arc;

/// A range of tokens whose owner differs between two rings.
typedef struct cleave_ring_change {
  uint64_t first;  ///< Inclusive.
  uint64_t last;   ///< Inclusive.
  size_t from;     ///< Index, in the ring before, of the owner before.
  size_t to;       ///< Index, in the ring after, of the owner after.
  double share;    ///< Fraction of all tokens.
} cleave_ring_change;

/// Version of the binary interface: that of the file name, libcleave-ring.so.N.
CLEAVE_RING_API int cleave_ring_abi_version(void);

/// Places nodes by a scheme. `options` may be NULL when `option_count` is 0.
CLEAVE_RING_API cleave_ring_status cleave_ring_create(
    const char* scheme, const cleave_ring_option* options, size_t option_count,
    const cleave_ring_node* nodes, size_t node_count, cleave_ring** ring, cleave_ring_error* error);

/// The ring that cleave_ring_to_text told of; `size` bytes, of which none need be zero.
CLEAVE_RING_API cleave_ring_status cleave_ring_from_text(const char* text, size_t size,
                                                         cleave_ring** ring,
                                                         cleave_ring_error* error);

/// Another handle of the same ring, to be freed by itself; cheap.
CLEAVE_RING_API cleave_ring_status cleave_ring_copy(const cleave_ring* ring, cleave_ring** copy);

/// Gives a ring back. NULL does nothing.
CLEAVE_RING_API void cleave_ring_free(cleave_ring* ring);

/// JSON on one line. `*count` does not count the zero byte that is written after it.
CLEAVE_RING_API cleave_ring_status cleave_ring_to_text(const cleave_ring* ring, char* text,
                                                       size_t capacity, size_t* count);

/// The node that the key lies on: its index, or CLEAVE_RING_NOWHERE. `key` may be NULL when
/// `key_size` is 0. Invalid: a key above CLEAVE_RING_KEY_BYTES_MAX.
CLEAVE_RING_API cleave_ring_status cleave_ring_locate(const cleave_ring* ring, const char* key,
                                                      size_t key_size, size_t* node);

/// As cleave_ring_locate, for `key_count` keys at once, into as many `nodes`. After a failure
/// `nodes` are undefined.
CLEAVE_RING_API cleave_ring_status cleave_ring_locate_many(const cleave_ring* ring,
                                                           const char* const* keys,
                                                           const size_t* key_sizes,
                                                           size_t key_count, size_t* nodes);

/// The token of a key. CLEAVE_RING_NOT_FOUND: the peer places it nowhere.
CLEAVE_RING_API cleave_ring_status cleave_ring_token_of(const cleave_ring* ring, const char* key,
                                                        size_t key_size, uint64_t* token);

/// Index of the node that owns the token.
CLEAVE_RING_API cleave_ring_status cleave_ring_owner(const cleave_ring* ring, uint64_t token,
                                                     size_t* node);

/// 1 if the token of a key stays when nodes come and go, so that cuts are possible; else, and for
/// NULL, 0.
CLEAVE_RING_API int cleave_ring_has_fixed_tokens(const cleave_ring* ring);

/// How many nodes there are; 0 for NULL.
CLEAVE_RING_API size_t cleave_ring_node_count(const cleave_ring* ring);

/// The node of that index. Its texts belong to the ring: they live until it and all rings made of
/// it are freed.
CLEAVE_RING_API cleave_ring_status cleave_ring_node_at(const cleave_ring* ring, size_t index,
                                                       cleave_ring_node* node);

/// Index of the node of that name.
CLEAVE_RING_API cleave_ring_status cleave_ring_find(const cleave_ring* ring, const char* name,
                                                    size_t* node);

/// Every token once, sorted, neighbours of one owner joined.
CLEAVE_RING_API cleave_ring_status cleave_ring_arcs(const cleave_ring* ring, cleave_ring_arc* arcs,
                                                    size_t capacity, size_t* count);

/// The cuts, sorted by token.
CLEAVE_RING_API cleave_ring_status cleave_ring_cuts(const cleave_ring* ring, cleave_ring_arc* cuts,
                                                    size_t capacity, size_t* count);

/// The fraction of all tokens that each node owns.
CLEAVE_RING_API cleave_ring_status cleave_ring_shares(const cleave_ring* ring, double* shares,
                                                      size_t capacity, size_t* count);

/// A new ring with one node more, the last.
CLEAVE_RING_API cleave_ring_status cleave_ring_with_node(const cleave_ring* ring,
                                                         const cleave_ring_node* node,
                                                         cleave_ring** changed,
                                                         cleave_ring_error* error);

/// A new ring without that node and the cuts it owns.
CLEAVE_RING_API cleave_ring_status cleave_ring_without_node(const cleave_ring* ring,
                                                            const char* name, cleave_ring** changed,
                                                            cleave_ring_error* error);

/// A new ring with another weight of that node.
CLEAVE_RING_API cleave_ring_status cleave_ring_with_weight(const cleave_ring* ring,
                                                           const char* name, uint32_t weight,
                                                           cleave_ring** changed,
                                                           cleave_ring_error* error);

/// A new ring with one cut more, over older ones: what it does not cover of them stays.
CLEAVE_RING_API cleave_ring_status cleave_ring_with_cut(const cleave_ring* ring,
                                                        const cleave_ring_arc* cut,
                                                        cleave_ring** changed,
                                                        cleave_ring_error* error);

/// A new ring that places keys as the scheme alone does.
CLEAVE_RING_API cleave_ring_status cleave_ring_without_cuts(const cleave_ring* ring,
                                                            cleave_ring** changed,
                                                            cleave_ring_error* error);

/// Where the owner changes from one ring to the other, sorted by token. Nodes are the same when
/// their names are. Invalid unless both have fixed tokens, by the same scheme and options.
CLEAVE_RING_API cleave_ring_status cleave_ring_diff(const cleave_ring* before,
                                                    const cleave_ring* after,
                                                    cleave_ring_change* changes, size_t capacity,
                                                    size_t* count, cleave_ring_error* error);

/// The replicas of every key of a ring (cleave/ring_replicas.hpp): immutable, for any number of
/// threads at once; lives without the ring. To be given to cleave_ring_replicas_free.
typedef struct cleave_ring_replicas cleave_ring_replicas;

/// How many replicas a datacenter is to hold.
typedef struct cleave_ring_datacenter {
  const char* name;   ///< As in the nodes; NULL and "": of nodes without one.
  uint32_t replicas;  ///< May be 0.
} cleave_ring_datacenter;

/// What racks and nodes do not suffice for; the same for every key.
typedef struct cleave_ring_shortage {
  const char* datacenter;  ///< Lives as long as the replicas.
  uint32_t wanted;         ///< Replicas that this datacenter is to hold.
  uint32_t missing;        ///< Of those, how many there are no nodes for.
  uint32_t sharing;        ///< How many stand in a rack that already holds one.
} cleave_ring_shortage;

/// The next `replicas` distinct nodes, wherever they stand. 1 to 64.
CLEAVE_RING_API cleave_ring_status cleave_ring_replicas_simple(const cleave_ring* ring,
                                                               uint32_t replicas,
                                                               cleave_ring_replicas** made,
                                                               cleave_ring_error* error);

/// So many in each datacenter, no two in one rack while there are racks enough.
CLEAVE_RING_API cleave_ring_status cleave_ring_replicas_over_racks(
    const cleave_ring* ring, const cleave_ring_datacenter* datacenters, size_t datacenter_count,
    cleave_ring_replicas** made, cleave_ring_error* error);

/// Gives replicas back. NULL does nothing.
CLEAVE_RING_API void cleave_ring_replicas_free(cleave_ring_replicas* replicas);

/// Replicas of each key: what was wanted without what is missing; 0 for NULL.
CLEAVE_RING_API size_t cleave_ring_replicas_count(const cleave_ring_replicas* replicas);

/// The nodes of a key as indexes, the first to be asked first; none when it lies nowhere.
CLEAVE_RING_API cleave_ring_status cleave_ring_replicas_locate(const cleave_ring_replicas* replicas,
                                                               const char* key, size_t key_size,
                                                               size_t* nodes, size_t capacity,
                                                               size_t* count);

/// What racks and nodes do not suffice for; empty when they do.
CLEAVE_RING_API cleave_ring_status
cleave_ring_replicas_shortages(const cleave_ring_replicas* replicas,
                               cleave_ring_shortage* shortages, size_t capacity, size_t* count);

/// A ring and what its nodes carry (cleave/ring_loads.hpp); lives without the ring. Threads: one at
/// a time. To be given to cleave_ring_loads_free.
typedef struct cleave_ring_loads cleave_ring_loads;

/// Consistent hashing with bounded loads: no node gets more than so many thousandths, 1,001 to
/// 1,000,000, of its share of all load.
CLEAVE_RING_API cleave_ring_status cleave_ring_loads_bounded(const cleave_ring* ring,
                                                             uint32_t bound_per_mille,
                                                             cleave_ring_loads** made,
                                                             cleave_ring_error* error);

/// The power of two choices.
CLEAVE_RING_API cleave_ring_status cleave_ring_loads_two_choices(const cleave_ring* ring,
                                                                 cleave_ring_loads** made,
                                                                 cleave_ring_error* error);

/// Gives loads back. NULL does nothing.
CLEAVE_RING_API void cleave_ring_loads_free(cleave_ring_loads* loads);

/// A node for a key, whose load it raises by one: its index, or CLEAVE_RING_NOWHERE.
CLEAVE_RING_API cleave_ring_status cleave_ring_loads_acquire(cleave_ring_loads* loads,
                                                             const char* key, size_t key_size,
                                                             size_t* node);

/// Lowers the load of a node by one. CLEAVE_RING_NOT_FOUND: it carries nothing, or is none.
CLEAVE_RING_API cleave_ring_status cleave_ring_loads_release(cleave_ring_loads* loads, size_t node);

/// What a node carries; 0 for NULL and what is no index of a node.
CLEAVE_RING_API uint64_t cleave_ring_loads_load(const cleave_ring_loads* loads, size_t node);

/// What all nodes carry; 0 for NULL.
CLEAVE_RING_API uint64_t cleave_ring_loads_total(const cleave_ring_loads* loads);

/// Goes on with a changed ring: nodes of the same name keep their load. Indexes are those of the
/// new ring from then on. After a failure all is as before.
CLEAVE_RING_API cleave_ring_status cleave_ring_loads_change_ring(cleave_ring_loads* loads,
                                                                 const cleave_ring* ring,
                                                                 cleave_ring_error* error);

/// Makes one ring after the other (cleave/ring_builder.hpp); lives without the first. Threads: one
/// at a time. To be given to cleave_ring_builder_free.
typedef struct cleave_ring_builder cleave_ring_builder;

/// A builder that begins with that ring.
CLEAVE_RING_API cleave_ring_status cleave_ring_builder_create(const cleave_ring* ring,
                                                              cleave_ring_builder** made,
                                                              cleave_ring_error* error);

/// Gives a builder back; its rings stay. NULL does nothing.
CLEAVE_RING_API void cleave_ring_builder_free(cleave_ring_builder* builder);

/// The ring after all changes so far, to be given to cleave_ring_free.
CLEAVE_RING_API cleave_ring_status cleave_ring_builder_ring(const cleave_ring_builder* builder,
                                                            cleave_ring** ring,
                                                            cleave_ring_error* error);

/// One node more, the last. After a failure of this and the next two all is as before.
CLEAVE_RING_API cleave_ring_status cleave_ring_builder_add(cleave_ring_builder* builder,
                                                           const cleave_ring_node* node,
                                                           cleave_ring_error* error);

/// Takes a node away, and the cuts it owns.
CLEAVE_RING_API cleave_ring_status cleave_ring_builder_remove(cleave_ring_builder* builder,
                                                              const char* name,
                                                              cleave_ring_error* error);

/// Another weight of a node.
CLEAVE_RING_API cleave_ring_status cleave_ring_builder_set_weight(cleave_ring_builder* builder,
                                                                  const char* name, uint32_t weight,
                                                                  cleave_ring_error* error);

#ifdef __cplusplus
}
#endif

#endif
