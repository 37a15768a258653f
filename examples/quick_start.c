/* The C interface: which server holds a key, exactly as nginx would choose it; the share of each
 * server; and what a join changes. */
#include <cleave/cleave_ring.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program when something failed that should not have. */
static void expect(cleave_ring_status status, const cleave_ring_error* error) {
  if (status == CLEAVE_RING_OK) return;
  fprintf(stderr, "failed with status %d: %s\n", (int)status, error->message);
  exit(1);
}

static void print_owner(const cleave_ring* ring, const char* key) {
  size_t index = 0;
  cleave_ring_node node;
  cleave_ring_locate(ring, key, strlen(key), &index);
  if (index == CLEAVE_RING_NOWHERE) {
    printf("'%s' -> nowhere: nginx spreads such keys round robin\n", key);
    return;
  }
  cleave_ring_node_at(ring, index, &node);
  printf("'%s' -> %s\n", key, node.name);
}

/* How much of the ring changes hands; lists are asked for twice: how long, then what. */
static double moved_share(const cleave_ring* before, const cleave_ring* after) {
  cleave_ring_error error;
  cleave_ring_change* changes = NULL;
  size_t count = 0;
  double share = 0;
  size_t i = 0;
  cleave_ring_diff(before, after, NULL, 0, &count, NULL);
  changes = malloc((count + 1) * sizeof *changes);
  if (changes == NULL) exit(1);
  expect(cleave_ring_diff(before, after, changes, count, &count, &error), &error);
  for (i = 0; i < count; ++i) share += changes[i].share;
  free(changes);
  return share;
}

int main(void) {
  const cleave_ring_option options[] = {{"method", "consistent"}};
  const cleave_ring_node nodes[] = {{"10.0.0.1:8080", 1, NULL, NULL},
                                    {"10.0.0.2:8080", 2, NULL, NULL}};
  const cleave_ring_node joiner = {"10.0.0.3:8080", 1, NULL, NULL};
  const cleave_ring_node weightless = {"10.0.0.4:8080", 0, NULL, NULL};
  cleave_ring_error error;
  cleave_ring* ring = NULL;
  cleave_ring* grown = NULL;
  cleave_ring* refused = NULL;
  double shares[2];
  size_t count = 0;

  expect(cleave_ring_create("nginx", options, 1, nodes, 2, &ring, &error), &error);
  print_owner(ring, "/index.html");
  print_owner(ring, "/logo.png");
  print_owner(ring, "");

  expect(cleave_ring_shares(ring, shares, 2, &count), &error);
  printf("shares: %.3f %.3f\n", shares[0], shares[1]);

  expect(cleave_ring_with_node(ring, &joiner, &grown, &error), &error);
  printf("the third server takes %.1f %% of the keys\n", 100 * moved_share(ring, grown));

  if (cleave_ring_with_node(ring, &weightless, &refused, &error) != CLEAVE_RING_OK) {
    printf("error %d: %s\n", (int)error.status, error.message);
  }

  cleave_ring_free(grown);
  cleave_ring_free(ring);
  return 0;
}
