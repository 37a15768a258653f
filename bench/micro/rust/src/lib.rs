//! The crates hashring and anchorhash behind C functions, for bench/micro/rust.cc.
//!
//! hashring hashes with SipHash unless told otherwise; with XXH3 only the search is left to compare.

use anchorhash::{AnchorHash, Builder};
use hashring::{DefaultHashBuilder, HashRing};
use std::hash::{BuildHasher, Hash, Hasher};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A point of a node, as the crate's own documentation makes them.
#[derive(Clone, Hash, PartialEq)]
struct Point {
    node: u32,
    index: u32,
}

/// A key of 16 bytes, without the length that `Hash` of an array puts in front.
struct Key([u8; 16]);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(&self.0);
    }
}

#[derive(Clone, Default, PartialEq, Debug)]
struct Xxh3;

struct Xxh3Hasher(u64);

impl BuildHasher for Xxh3 {
    type Hasher = Xxh3Hasher;

    fn build_hasher(&self) -> Xxh3Hasher {
        Xxh3Hasher(0)
    }
}

impl Hasher for Xxh3Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = match self.0 {
            0 => xxh3_64(bytes),
            before => xxh3_64_with_seed(bytes, before),
        };
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

enum Ring {
    Sip(HashRing<Point, DefaultHashBuilder>),
    Xxh3(HashRing<Point, Xxh3>),
    Anchor(AnchorHash<Key, u32, Xxh3>),
}

fn points_of(node: u32, points: u32) -> impl Iterator<Item = Point> {
    (0..points).map(move |index| Point { node, index })
}

fn all_points(nodes: u32, points: u32) -> Vec<Point> {
    (0..nodes).flat_map(|node| points_of(node, points)).collect()
}

/// kind 0: hashring with SipHash; 1: hashring with XXH3; 2: anchorhash with XXH3, which has no
/// points.
#[no_mangle]
extern "C" fn ring_peer_new(kind: u32, nodes: u32, points: u32) -> *mut Ring {
    let ring = match kind {
        0 => {
            let mut ring = HashRing::new();
            ring.batch_add(all_points(nodes, points));
            Ring::Sip(ring)
        }
        1 => {
            let mut ring = HashRing::with_hasher(Xxh3);
            ring.batch_add(all_points(nodes, points));
            Ring::Xxh3(ring)
        }
        _ => {
            let capacity = u16::try_from(nodes + nodes / 10 + 1).expect("at most 59,000 nodes");
            Ring::Anchor(
                Builder::with_hasher(Xxh3)
                    .with_resources(0..nodes)
                    .build(capacity),
            )
        }
    };
    Box::into_raw(Box::new(ring))
}

/// # Safety
/// `ring` comes from `ring_peer_new` and is not used again.
#[no_mangle]
unsafe extern "C" fn ring_peer_free(ring: *mut Ring) {
    drop(Box::from_raw(ring));
}

/// # Safety
/// `ring` comes from `ring_peer_new`; `key` has 16 bytes.
#[no_mangle]
unsafe extern "C" fn ring_peer_owner(ring: *const Ring, key: *const [u8; 16]) -> u32 {
    let key = Key(*key);
    match &*ring {
        Ring::Sip(ring) => ring.get(&key).map_or(0, |point| point.node),
        Ring::Xxh3(ring) => ring.get(&key).map_or(0, |point| point.node),
        Ring::Anchor(ring) => ring.get_resource(key).copied().unwrap_or(0),
    }
}

/// One node more, in place: these rings have no snapshots.
///
/// # Safety
/// `ring` comes from `ring_peer_new`.
#[no_mangle]
unsafe extern "C" fn ring_peer_add(ring: *mut Ring, node: u32, points: u32) {
    match &mut *ring {
        Ring::Sip(ring) => ring.batch_add(points_of(node, points).collect()),
        Ring::Xxh3(ring) => ring.batch_add(points_of(node, points).collect()),
        Ring::Anchor(ring) => drop(ring.add_resource(node)),
    }
}
