/* elements.pml: rule 27, one key with two elements and perhaps an expiry time, copied as a whole and then by its elements, two clients.
 * The base (b), marks of elements and of the whole key (a), and what no mark tells (d): the key may vanish by its time and come again.
 * RUN: make model ONLY=el_3. Mutants: -DM_NAME, one a rule; REACH: a commit after a round of elements.
 * Left out, for move.pml has it: several routers, lost connections and replies, batches that are asked for again. */
#ifndef NOPS
#define NOPS 3
#endif
#define W 4                          /* a mark: bits 0, 1 elements, W the whole key */
byte s[2] = 1, d[2], h[2];           /* source, destination, hidden key; 0: the element is absent */
bool sT, dT, hT;                     /* has its expiry time */
bool near;                           /* the time has come by one of the two clocks */
bool watched, fenced, base, bT, over, elements_copied;
byte marks, pending, inflight, ops, fresh = 1;
#define EMPTY(a) (a[0]==0 && a[1]==0)

inline mark(m) {
#ifdef M_HIDE
  if :: (m & W) -> marks = marks | m :: else -> marks = (marks & 3) | m fi
#else
  marks = marks | m
#endif
}
inline take() { atomic { pending = pending | marks; marks = 0; watched = true } }

proctype Client() {
  byte op, i, m;
end:do
  :: atomic { !fenced && !over && ops < NOPS -> ops++; inflight++;
       if :: i = 0 :: i = 1 fi;
       if :: op = 0 :: op = 1 :: op = 2 :: op = 3 fi;      /* set, remove an element; remove the key; change it all without its time */
       m = (watched && op < 2 -> 1<<i : W);
#ifdef M_SENDMARK
       mark(m)
#endif
     }
     atomic { if
       :: op==0 -> fresh++; s[i] = fresh
       :: op==1 -> s[i] = 0
       :: op==2 -> s[0] = 0; s[1] = 0
       :: op==3 -> fresh++; s[0] = fresh; s[1] = 0; sT = false
       fi;
       if :: EMPTY(s) -> sT = false :: else fi }
     atomic {
#ifdef M_NOMARK
       if :: m==W -> mark(m) :: else fi;
#else
#ifndef M_SENDMARK
       mark(m);
#endif
#endif
       inflight--; m = 0; op = 0; i = 0 }
  od
}

proctype Time() {
end:do
  :: atomic { !near && !over -> near = true }
  :: atomic { near && sT && !over -> s[0] = 0; s[1] = 0; sT = false }
  :: atomic { near && dT && !over -> d[0] = 0; d[1] = 0; dT = false }
  od
}

inline copy_whole() {
  pending = 0;
  hT = sT; h[0] = s[0]; h[1] = s[1];   /* three moments */
  atomic { if
    :: EMPTY(s) -> d[0] = 0; d[1] = 0; dT = false; base = false
    :: !EMPTY(s) && EMPTY(h) -> pending = W; base = false
    :: else -> d[0] = h[0]; d[1] = h[1]; dT = hT; bT = hT; base = true
    fi; h[0] = 0; h[1] = 0; hT = false }
}

inline copy_elements() {               /* h: what is read of those in `pending` */
  if
#ifndef M_NOTIMED
  :: sT != bT -> pending = W
  :: else ->
#else
  :: true ->
#endif
     h[0] = s[0]; h[1] = s[1];
     atomic { if :: (pending & 1) && h[0] -> d[0] = h[0] :: else fi; if :: (pending & 2) && h[1] -> d[1] = h[1] :: else fi }
     atomic {
#ifndef M_NOREMOVE
       if :: (pending & 1) && !h[0] -> d[0] = 0 :: else fi; if :: (pending & 2) && !h[1] -> d[1] = 0 :: else fi;
#endif
       if :: EMPTY(d) -> dT = false
#ifndef M_NOTIMEAGAIN
       :: !EMPTY(d) && bT -> dT = true
#endif
       :: else fi;
       pending = 0; h[0] = 0; h[1] = 0; elements_copied = true }
  fi
}

proctype Driver() {
  pending = W; take(); take();
  do
  :: (pending & W) || (pending && !base) ->
#ifdef M_COPYFIRST
     copy_whole(); atomic { marks = marks & 3 }; take()
#else
     copy_whole(); take()
#endif
  :: pending && !(pending & W) && base -> copy_elements(); take()
  :: !pending -> atomic { fenced = true }; break
  od;
  (inflight==0);
#ifdef M_NOLAST
  atomic { pending = marks & W }
#else
  atomic { pending = marks; marks = 0 }
#endif
  if
  :: !pending
  :: pending && !(pending & W) && base -> copy_elements()
  :: else -> pending = W
  fi;
  if
  :: pending -> over = true            /* abort */
  :: else -> atomic { over = true;     /* commit: who has a time that has come is gone soon, at both ends */
       if :: near && sT -> s[0] = 0; s[1] = 0; sT = false :: else fi;
       if :: near && dT -> d[0] = 0; d[1] = 0; dT = false :: else fi;
#ifdef REACH
       assert(!elements_copied)
#else
       assert(s[0]==d[0] && s[1]==d[1] && sT==dT)
#endif
     }
  fi
}

init { atomic { if :: sT = true :: sT = false fi; run Client(); run Client(); run Time(); run Driver() } }
