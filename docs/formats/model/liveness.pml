/* liveness.pml: every FENCED phase ends, with the driver silent or arbitrarily slow, given one fair router that sees the document.
 * RUN: make model ONLY=fence_ends (weak fairness); the mutant: -DM_NOABORT, routers never propose the abort. */
byte phase, n;                      /* 0 stable 1 copying 2 fenced 3 clean */
byte view[2]; bool held[2]; bool stuck;
active proctype Driver() {
  do
  :: atomic { phase==0 && n<3 -> n++; phase = 1 }
  :: atomic { phase==1 -> phase = 2 }
  :: atomic { phase==2 -> phase = 3 }
  :: atomic { phase==3 -> phase = 0 }
  :: stuck = true; break            /* crashed or paused for ever, anywhere */
  od
}
active proctype R0() {              /* fair: sees the document in the end, and its cap runs out in the end */
end:do
  :: atomic { view[0] != phase -> view[0] = phase; held[0] = (phase==2) }
#ifndef M_NOABORT
  :: atomic { held[0] && phase==2 && view[0]==2 -> phase = 0 }   /* compare-and-set */
#endif
  od
}
active proctype R1() {              /* may stop at any instant, fenced or not */
end:do
  :: atomic { view[1] != phase -> view[1] = phase; held[1] = (phase==2) }
  :: break
  od
}
ltl fence_ends { [] ((phase==2) -> <> (phase!=2)) && [] (held[0] -> <> !held[0]) }
