/// @file
/// What the headers of libcleave-ring share: which symbols the library exports.
#ifndef CLEAVE_RING_EXPORT_H
#define CLEAVE_RING_EXPORT_H

/// Marks what libcleave-ring exports; everything else in it is hidden.
#if defined(__GNUC__)
#define CLEAVE_RING_API __attribute__((visibility("default")))
#else
#define CLEAVE_RING_API
#endif

#endif
