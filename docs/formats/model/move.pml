/*
 * move.pml: cleave's move protocol, one key of one range, for Spin 6.5.
 *
 * MODELLED
 *  - two servers S=0, D=1; one key; value 0 = absent; op i writes i+1; INIT on S, GARB left over on D.
 *  - routers with an arbitrarily old view of the ring document, one pipelined connection per node; a sent op may execute
 *    any time later, also after its connection broke at the router (ORPH), unless the server has killed that connection.
 *    A reply that the server has produced can reach the router (and the client) even after the kill.
 *  - pause and crash of any router or driver = it is not scheduled (for a while, or never again).
 *  - two drivers; driver 1 takes over at any instant; driver 0 keeps believing and its commands stay in flight.
 *  - lease expiry = at any instant (takeover, removal of a router): leases carry no safety.
 *  - the ring document: an atomic register, every change a compare-and-set (here: guard + change in one atomic step; the
 *    guard compares term, pe (epoch of the phase) and, at the commit, the members).
 *  - CLIENT LIST and CLIENT KILL as two steps; naming and the document read after it as two steps.
 *  - join of a router, removal of a router, abort by any router, abort by the driver, MAXM moves in either direction.
 *  - -DFAILOVER: once, S falls back to an older replicated value and drops all its connections.
 * CHECKED after every step: the history of client ops (write, delete, read) plus one virtual read at the owner is
 *  linearizable (no acked write lost, no resurrection, no stale read). -DINV adds: client ops execute only at the owner,
 *  driver writes land only on the node that is not the owner, and at the commit destination = source.
 * NOT MODELLED: several keys (SCAN), multi-key and blocking commands, TTL, split brain of one node, byte-level TCP.
 *
 * RUN: make model ONLY=nopurge (results.md and runs.txt beside this file).
 */
#ifndef NR
#define NR 2
#endif
#ifndef NOPS
#define NOPS 3
#endif
#ifndef MAXM
#define MAXM 2
#endif
#ifndef RB
#define RB 1            /* connection breaks seen by routers */
#endif
#ifndef DB
#define DB 1            /* connection breaks seen by drivers */
#endif
#ifndef EXPEL
#define EXPEL 0         /* 0: removal aborts the move. 1: kill, no recopy (design). 2: kill, then recopy. 3: recopy, then kill */
#endif
#define INIT 9
#define GARB 8
#define ALLR ((1<<NR)-1)
/* phases */
#define STABLE 0
#define COPYING 1
#define FENCED 2
#define CLEAN 3
/* op kinds and states */
#define W 1
#define DEL 2
#define R 3
#define SENT 2
#define EXEC 3
#define DONE 4
#define LOST 5
#define ORPH 6
/* driver program counters */
#define IDLE 0
#define LISTS 1
#define KILLS 2
#define PURGE 3
#define PURGEW 4
#define ACKC 5
#define REST 7
#define RESTW 8
#define COPY 9
#define FEN 10
#define COMMIT 11
#define CLN 12
#define CLNW 13

/* the ring document */
byte owner, phase, pe, term, members, moves;
/* servers */
byte val[2];
/* routers: view, dirty set (one key: 0/1), acknowledgement, connections (0 none, 1 named, 2 usable, 3 killed), unconfirmed breaks */
byte vpe[NR], vphase[NR], vowner[NR], vin[NR], dirty[NR], ackpe[NR], ackd[NR], everin;
byte conn[4], unconf[4];   /* index r*2+n */
/* client ops (the history) */
byte kind[NOPS], st[NOPS], node[NOPS], who[NOPS], res[NOPS], prec[NOPS], done, nops;
/* drivers: current command (cst 0 none, 1 sent, 2 replied), one orphan of a broken connection */
byte pc[2], mpe[2], msrc[2], dval[2], need[2], dfen[2], dcl[2], dconn[2], mm[2];
byte cst[2], cnode[2], cval[2], ocst[2], onode[2], oval[2];
byte cap[2], capd[2];      /* captured by the CLIENT LIST of each driver */
byte np;
#ifdef TOKEN
byte tok;                  /* bit n: fence key of node n */
#endif
byte rbr, dbr, rmv, expst, kf, ok;
#ifdef FAILOVER
byte rep, runid, myrun[2], fo, pre, init2;
#endif

c_code {
  /* Is the history, with a virtual read at the owner unless the range is fenced, linearizable? Pending writes are optional. */
  static int lin_go(int mask, int cur, int goal, int vread, int from) {
    int i;
    if ((mask & goal) == goal && (vread < 0 || cur == vread)) return 1;
    for (i = 0; i < NOPS; i++) {
      int b = 1 << i, p;
      if ((mask & b) || (from & b) || now.st[i] < 2) continue;
      p = now.prec[i] & ~from;
      if ((p & mask) != p) continue;
      if (now.kind[i] == 3) {
        if (!(now.done & b) || now.res[i] != cur) continue;
        if (lin_go(mask | b, cur, goal, vread, from)) return 1;
      } else if (lin_go(mask | b, now.kind[i] == 1 ? i + 1 : 0, goal, vread, from)) return 1;
    }
    return 0;
  }
  static int lin_ok(void) {
    int v = now.phase == 2 ? -1 : now.val[now.owner];
    if (lin_go(0, 9, now.done, v, 0)) return 1;
#ifdef FAILOVER
    /* after a failover that lost a suffix: what was acknowledged before it may be forgotten, once and for all */
    if (now.fo && lin_go(0, now.init2, now.done & ~now.pre, v, now.pre)) return 1;
#endif
    return 0;
  }
}
#define CHECK c_code { now.ok = lin_ok(); }; assert(ok)
#ifdef INV
#define INVA(x) assert(x)
#else
#define INVA(x) skip
#endif
#define M(r) ((members >> (r)) & 1)
#define FL(i,r) (who[i]==(r) && (st[i]==SENT || st[i]==EXEC) CNT(i))
#ifdef M_READS          /* reads are neither held nor awaited while fenced */
#define CNT(i) && kind[i]!=R
#else
#define CNT(i)
#endif
#if NOPS==2
#define INFL(r) (FL(0,r) || FL(1,r) || unconf[(r)*2] || unconf[(r)*2+1])
#elif NOPS==3
#define INFL(r) (FL(0,r) || FL(1,r) || FL(2,r) || unconf[(r)*2] || unconf[(r)*2+1])
#else
#define INFL(r) (FL(0,r) || FL(1,r) || FL(2,r) || FL(3,r) || unconf[(r)*2] || unconf[(r)*2+1])
#endif
#define TRACKING(r) (vphase[r]==COPYING || vphase[r]==FENCED)

/* ---------- the document ---------- */
inline newpe() {        /* a fresh epoch: any number that nobody remembers (epochs are only compared for equality) */
  np = 1;
  do
  :: np==pe || np==vpe[0] || np==vpe[1] || np==mpe[0] || np==mpe[1] -> np++
  :: else -> break
  od;
  pe = np; np = 0;
#ifndef M_ANYACK
  ackpe[0] = 0; ackpe[1] = 0; ackd[0] = 0; ackd[1] = 0;
#endif
  if :: vpe[0]!=mpe[0] && vpe[0]!=mpe[1] -> vpe[0] = 0 :: else fi;
  if :: vpe[1]!=mpe[0] && vpe[1]!=mpe[1] -> vpe[1] = 0 :: else fi
}

/* ---------- routers ---------- */
inline setview(r) {
  vin[r] = M(r);
  if
  :: !vin[r] -> vpe[r] = 0; vphase[r] = 0; vowner[r] = 0; dirty[r] = 0
  :: else ->
  if
  :: vpe[r] != pe ->
     vpe[r] = pe; vphase[r] = phase; vowner[r] = owner;
     if
     :: phase == FENCED -> skip
     :: else ->
        dirty[r] = 0;
#ifndef TRACK_SEND
        if :: phase == COPYING && vin[r] -> ackpe[r] = pe :: else fi
#endif
     fi
  :: else
  fi
  fi
}
inline refresh(r) {
  (vin[r] && (vpe[r] != pe || !M(r))) -> printf("R%d refreshes its view: phase %d pe %d\n", r, phase, pe);
  setview(r)
}
#ifdef TRACK_SEND       /* the design as written: the key is noted before the send; COPYING is acknowledged when nothing untracked is in flight */
inline ackC(r) {
  (vin[r] && vphase[r]==COPYING && ackpe[r]!=vpe[r] && !INFL(r)) -> ackpe[r] = vpe[r]; printf("R%d acks COPYING\n", r)
}
#endif
inline ackF(r) {
  (vin[r] && vphase[r]==FENCED && ackpe[r]!=vpe[r]
#ifndef M_NOWAIT        /* acknowledge the fence without waiting for replies in flight */
   && !INFL(r)
#endif
  ) -> ackpe[r] = vpe[r]; ackd[r] = dirty[r]; printf("R%d acks FENCED dirty=%d\n", r, dirty[r])
}
inline abortF(r) {
#ifdef M_ABORTBLIND     /* abort written without compare-and-set */
  (vin[r] && vphase[r]==FENCED && (phase==FENCED || phase==CLEAN)) -> owner = vowner[r];
#else
  (vin[r] && vphase[r]==FENCED && phase==FENCED && vpe[r]==pe) ->
#endif
  phase = STABLE; newpe(); printf("R%d aborts\n", r); CHECK
}
inline connect(r,n) {
  (vin[r] && (conn[r*2+n]==0 || conn[r*2+n]==3)) ->
#ifdef M_READFIRST      /* document read, then naming */
  setview(r);
  if :: M(r) -> conn[r*2+n] = 1; printf("R%d connects to %d, reads doc\n", r, n) :: else fi
#else
  cap[0] = cap[0] & (255 - (1 << (r*2+n))); cap[1] = cap[1] & (255 - (1 << (r*2+n)));
#ifdef M_NOREAD         /* no document read after naming */
  conn[r*2+n] = 2;
#else
  conn[r*2+n] = 1;
#endif
  printf("R%d connects to %d, named\n", r, n)
#endif
}
inline usable(r,n) {
  (conn[r*2+n]==1) ->
#ifdef M_READFIRST
  conn[r*2+n] = 2; cap[0] = cap[0] & (255 - (1 << (r*2+n))); cap[1] = cap[1] & (255 - (1 << (r*2+n))); printf("R%d names its connection to %d\n", r, n)
#else
  setview(r);
  if :: M(r) -> conn[r*2+n] = 2 :: else -> conn[r*2+n] = 0 fi;
  printf("R%d reads doc after naming (node %d): phase %d\n", r, n, phase)
#endif
}
inline send(i,r,k) {
  (nops==i && vin[r] && conn[r*2+vowner[r]]==2 && (vphase[r]!=FENCED
#ifdef M_READS
   || k==R
#endif
  )) ->
  who[i] = r; node[i] = vowner[r]; st[i] = SENT; kind[i] = k; prec[i] = done; nops++;
#ifdef TRACK_SEND
  if :: k!=R && TRACKING(r) -> dirty[r] = 1 :: else fi;
#endif
  printf("R%d sends op%d kind %d to node %d\n", r, i, k, node[i])
}
inline recv(i) {
  (st[i]==EXEC) -> st[i] = DONE; done = done | (1<<i);
#ifndef TRACK_SEND
  if :: kind[i]!=R && TRACKING(who[i]) -> dirty[who[i]] = 1 :: else fi;
#endif
  printf("op%d acked by R%d res %d\n", i, who[i], res[i]);
  who[i] = 0; node[i] = 0;
  CHECK
}
inline brk1(i,r,n) {
  if
  :: who[i]==r && node[i]==n && st[i]==SENT -> st[i] = ORPH
  :: who[i]==r && node[i]==n && st[i]==EXEC -> st[i] = LOST; who[i] = 0; node[i] = 0; res[i] = 0
  :: else
  fi
}
inline rbreak(r,n) {
  (rbr<RB && conn[r*2+n]==2 && INFL(r)) -> rbr++;
  conn[r*2+n] = 0;
#ifdef M_NOCONFIRM      /* a broken connection counts as "nothing in flight" */
  if :: TRACKING(r) -> dirty[r] = 1 :: else fi;
#else
  unconf[r*2+n] = 1;
#endif
  brk1(0,r,n); brk1(1,r,n);
#if NOPS>2
  brk1(2,r,n);
#endif
#if NOPS>3
  brk1(3,r,n);
#endif
  printf("R%d loses its connection to %d with ops in flight\n", r, n)
}
inline orphkill1(i,r,n) {
  if :: who[i]==r && node[i]==n && st[i]==ORPH -> st[i] = LOST; who[i] = 0; node[i] = 0 :: else fi
}
inline orphkill(r,n) {
  orphkill1(0,r,n); orphkill1(1,r,n);
#if NOPS>2
  orphkill1(2,r,n);
#endif
#if NOPS>3
  orphkill1(3,r,n);
#endif
}
inline confirm(r,n) {   /* on the new connection: CLIENT KILL ID <old> has replied */
  (unconf[r*2+n] && conn[r*2+n]>=1 && conn[r*2+n]<=2) -> unconf[r*2+n] = 0;
  if :: TRACKING(r) -> dirty[r] = 1 :: else fi;
  orphkill(r,n);
  printf("R%d has killed its old connection to %d\n", r, n)
}
inline join(r) {
  (!M(r) && !((everin>>r)&1)) -> members = members | (1<<r); everin = everin | (1<<r);
  vin[r] = 1; vpe[r] = pe; vphase[r] = phase; vowner[r] = owner; dirty[r] = 0; ackd[r] = 0;
#ifdef M_JOINVIEW       /* starts from a cached ring, not from the document of its join */
  vphase[r] = STABLE; vpe[r] = 0; vowner[r] = 0;
#endif
  if :: phase==COPYING || phase==FENCED -> ackpe[r] = pe :: else fi;
  printf("R%d joins, phase %d\n", r, phase)
}

/* ---------- servers ---------- */
inline exec(i) {
  (st[i]==SENT || st[i]==ORPH) ->
  INVA(node[i]==owner);
  if
  :: kind[i]==W -> val[node[i]] = i+1
  :: kind[i]==DEL -> val[node[i]] = 0
  :: else -> if :: st[i]==SENT -> res[i] = val[node[i]] :: else fi
  fi;
  printf("node %d executes op%d (kind %d), value now %d\n", node[i], i, kind[i], val[node[i]]);
  if :: st[i]==SENT -> st[i] = EXEC :: else -> st[i] = LOST; who[i] = 0; node[i] = 0 fi;
  CHECK
}
inline oexec(d) {
  (ocst[d]==1) -> INVA(onode[d]!=owner);
#ifdef TOKEN
  if :: ((tok >> onode[d]) & 1)==d -> val[onode[d]] = oval[d] :: else fi;
#else
  val[onode[d]] = oval[d];
#endif
  printf("node %d executes LATE driver %d write %d\n", onode[d], d, oval[d]);
  ocst[d] = 0; onode[d] = 0; oval[d] = 0;
  CHECK
}
inline kill1(i,r,n) {
  if :: who[i]==r && node[i]==n && (st[i]==SENT || st[i]==ORPH) -> st[i] = LOST; who[i] = 0; node[i] = 0 :: else fi
}
inline killconn(r,n) {  /* the connection captured, and every older one of that session */
  if :: conn[r*2+n] -> conn[r*2+n] = 3;
     kill1(0,r,n); kill1(1,r,n);
#if NOPS>2
     kill1(2,r,n);
#endif
#if NOPS>3
     kill1(3,r,n);
#endif
  :: else
  fi
}
inline killsess(r,n,mask) {
  if :: (mask >> (r*2+n)) & 1 -> killconn(r,n) :: else fi;
  orphkill(r,n)
}

/* ---------- drivers ---------- */
/* Steps that only the driver sees are merged with their neighbour (a driver may wait as long as it likes before a step, so a
 * reply in the network equals a slow driver); commands in flight (cst) and their execution are separate steps. */
inline dreset(d) { mpe[d]=0; msrc[d]=0; dval[d]=0; need[d]=0; dfen[d]=0; dcl[d]=0; mm[d]=0; cap[d]=0; capd[d]=0; pc[d]=IDLE }
inline put(d,n,v,next) { cst[d] = 1; cnode[d] = n; cval[d] = v; pc[d] = next; printf("driver %d sends write %d to node %d\n", d, v, n) }
inline begin(d) {
  (pc[d]==IDLE && term==d && phase==STABLE && moves<MAXM && cst[d]==0) ->
  phase = COPYING; newpe(); moves++; mpe[d] = pe; msrc[d] = owner; pc[d] = LISTS;
#ifdef M_STALEMEM
  mm[d] = members;
#endif
#ifdef FAILOVER
  myrun[d] = runid;
#endif
  printf("driver %d begins move from %d, pe %d\n", d, owner, pe)
}
inline takeabort(d) {
  (pc[d]==IDLE && term==d && (phase==COPYING || phase==FENCED)) -> phase = STABLE; newpe();
  printf("driver %d (new) aborts\n", d); CHECK
}
inline takeclean(d) {
  (pc[d]==IDLE && term==d && phase==CLEAN && cst[d]==0) ->
  mpe[d] = pe; msrc[d] = 1-owner; dcl[d] = 1; pc[d] = LISTS; printf("driver %d continues to clean\n", d)
}
inline dconnect(d) {
  (dconn[d]==0 && pc[d]!=IDLE) ->
#ifdef M_DNOREAD
  dconn[d] = 2;
#else
  dconn[d] = 1;
#endif
  capd[1-d] = 0;
  printf("driver %d connects, named\n", d)
}
inline dread(d) {
  (dconn[d]==1) ->
  if
  :: term==d -> dconn[d] = 2;
#ifndef M_DNOOWNKILL    /* a reconnecting driver does not kill its own old connection first */
     ocst[d] = 0; onode[d] = 0; oval[d] = 0
#endif
  :: else -> dconn[d] = 0; dreset(d)
  fi;
  printf("driver %d reads doc after naming: leader %d\n", d, term)
}
#ifdef M_READFIRST
#define LOWN 2
#else
#define LOWN 1
#endif
#define NAMED(r,n) (conn[r*2+n]>=LOWN && conn[r*2+n]<=2 && !M(r))
inline list(d) {
  (pc[d]==LISTS && dconn[d]==2) ->
  cap[d] = NAMED(0,0) | (NAMED(0,1)<<1) | (NAMED(1,0)<<2) | (NAMED(1,1)<<3);
  capd[d] = (dconn[1-d]==1 || dconn[1-d]==2);
  pc[d] = KILLS; printf("driver %d: CLIENT LIST -> cap %d capd %d\n", d, cap[d], capd[d])
}
inline kill(d) {
  (pc[d]==KILLS && dconn[d]==2) ->
#ifdef TOKEN
#ifdef M_TOKREWIND      /* the fence key is set, not raised */
  tok = d + (d<<1);
#else
  tok = tok | d | (d<<1);
#endif
#endif
#ifndef M_NOKILLR       /* connections of removed routers are not killed */
  if :: !M(0) -> killsess(0,0,cap[d]); killsess(0,1,cap[d]) :: else fi;
  if :: !M(1) -> killsess(1,0,cap[d]); killsess(1,1,cap[d]) :: else fi;
#endif
#ifndef M_NOKILLD       /* connections of older drivers are not killed */
  if :: term==d ->
     if :: capd[d] && dconn[1-d] -> dconn[1-d] = 3; cst[1-d] = 0; cnode[1-d] = 0; cval[1-d] = 0 :: else fi;
     ocst[1-d] = 0; onode[1-d] = 0; oval[1-d] = 0
  :: else fi;
#endif
  cap[d] = 0; capd[d] = 0;
  printf("driver %d: CLIENT KILL done\n", d);
  if
  :: dcl[d] -> put(d, msrc[d], 0, CLNW)
#ifdef M_NOPURGE        /* leftovers at the destination are not purged */
  :: else -> pc[d] = ACKC
#else
  :: else -> put(d, 1-msrc[d], 0, PURGEW)
#endif
  fi
}
#ifdef M_NOACKC         /* the scan starts before every router tracks */
#define ACKED_C(d,r) 1
#else
#define ACKED_C(d,r) (!M(r) || ackpe[r]==mpe[d])
#endif
inline dumprest(d) {    /* DUMP at the source, RESTORE (or UNLINK) sent to the destination */
  dval[d] = val[msrc[d]]; need[d] = 0; printf("driver %d DUMPs %d\n", d, dval[d]);
  put(d, 1-msrc[d], dval[d], RESTW)
}
inline ackc(d) { (pc[d]==ACKC && dconn[d]==2 && ACKED_C(d,0) && ACKED_C(d,1)) -> printf("driver %d has all COPYING acks, scans\n", d);
  if :: val[msrc[d]]==0 -> pc[d] = COPY   /* SCAN does not list an absent key */
     :: else -> dumprest(d) fi }
inline again(d) { (pc[d]==COPY && need[d] && dconn[d]==2) -> dumprest(d) }
inline take(d,r) {
  (pc[d]==COPY && dirty[r]
#ifndef M_TAKEANY       /* a router hands its dirty set to a driver of another move */
   && vpe[r]==mpe[d]
#endif
  ) -> need[d] = 1; dirty[r] = 0; printf("driver %d takes the dirty set of R%d\n", d, r)
}
#ifdef M_TAKELOST       /* the reply to a take is lost and the set is gone */
inline takelost(d,r) { (pc[d]==COPY && dirty[r] && vpe[r]==mpe[d]) -> dirty[r] = 0; printf("dirty set of R%d lost on the way\n", r) }
#endif
inline fence(d) {
  (pc[d]==COPY) ->
  if
  :: term==d && pe==mpe[d] -> phase = FENCED; newpe(); mpe[d] = pe; dfen[d] = 1; pc[d] = FEN; printf("driver %d publishes FENCED pe %d\n", d, pe)
  :: else -> dreset(d)
  fi
}
#ifdef M_STALEMEM       /* acknowledgements wanted only from the members seen when the copy began */
#define ACKED_F(d,r) (!((mm[d]>>(r))&1) || !M(r) || ackpe[r]==mpe[d])
#else
#ifdef M_ANYACK         /* acknowledgements do not carry the epoch */
#define ACKED_F(d,r) (!M(r) || ackpe[r]!=0)
#else
#define ACKED_F(d,r) (!M(r) || ackpe[r]==mpe[d])
#endif
#endif
inline fen(d) {         /* all have acknowledged the fence and something is dirty */
  (pc[d]==FEN && dconn[d]==2 && ACKED_F(d,0) && ACKED_F(d,1) && (need[d] || (M(0) && ackd[0]) || (M(1) && ackd[1]))) ->
  printf("driver %d has all FENCED acks, copies the last dirty keys\n", d); dumprest(d)
}
#if defined(FAILOVER) && !defined(M_NORUNID)    /* the source is still the incarnation recorded when the move began */
#define RUNOK(d) (myrun[d]==runid)
#else
#define RUNOK(d) (1)
#endif
inline commit(d) {
  ((pc[d]==COMMIT || (pc[d]==FEN && ACKED_F(d,0) && ACKED_F(d,1) && !need[d] && !(M(0) && ackd[0]) && !(M(1) && ackd[1]))) && expst==0) ->
#ifdef M_COMMITNOCAS    /* the commit is a plain write */
  if :: phase==FENCED || phase==STABLE ->
#else
  if :: (term==d && pe==mpe[d] && phase==FENCED && ACKED_F(d,0) && ACKED_F(d,1) && RUNOK(d)) ->
#endif
        INVA(val[0]==val[1]);
#ifdef REACH_RMV        /* witness: a commit after a removal, with a write acknowledged */
        assert(!(rmv && done!=0));
#endif
#ifdef REACH_JOIN       /* witness: a commit with the joiner a member and its write acknowledged before */
        assert(!(members==3 && ackpe[1]==mpe[d] && done!=0 && everin==3 && dirty[1]));
#endif
#ifdef REACH_BRK        /* witness: a commit after a router's or a driver's connection broke */
        assert(!((RB==0 || rbr) && (DB==0 || dbr) && done!=0));
#endif
#ifdef REACH            /* not a property: shows that the interesting worlds are reached */
        assert(!(moves==MAXM && msrc[d]==(MAXM-1)%2 && done==(1<<NOPS)-1 && kind[0]!=R && kind[1]==R && res[1]==1 && owner==msrc[d] && val[owner]==1));
#endif
        owner = 1-msrc[d]; phase = CLEAN; newpe(); mpe[d] = pe; dfen[d] = 0; pc[d] = CLN; printf("driver %d COMMITS owner %d\n", d, owner)
     :: else ->
#ifdef REACH_FO         /* witness: the incarnation check refuses a commit */
        assert(!(fo && term==d && pe==mpe[d]));
#endif
        if :: term==d && pe==mpe[d] -> phase = STABLE; newpe() :: else fi;
        dreset(d); printf("driver %d cannot commit\n", d)
     fi;
  CHECK
}
inline cln(d) {
  (pc[d]==CLN && dconn[d]==2
#ifdef CLEAN_WAIT
   && (!M(0) || vpe[0]==pe) && (!M(1) || vpe[1]==pe)
#endif
  ) -> put(d, msrc[d], 0, CLNW)
}
inline purge(d) { (pc[d]==PURGE && dconn[d]==2) -> put(d, 1-msrc[d], 0, PURGEW) }
inline rest(d) { (pc[d]==REST && dconn[d]==2) -> put(d, 1-msrc[d], dval[d], RESTW) }
inline dexec(d) {
  (cst[d]==1) -> INVA(cnode[d]!=owner);
#ifdef TOKEN            /* Lua guard: the write runs only if the node's fence key holds this driver's term */
  if :: ((tok >> cnode[d]) & 1)==d -> val[cnode[d]] = cval[d] :: else fi;
#else
  val[cnode[d]] = cval[d];
#endif
  cst[d] = 0; printf("node %d executes driver %d write %d\n", cnode[d], d, cval[d]); cnode[d] = 0; cval[d] = 0;
  if
  :: pc[d]==PURGEW -> pc[d] = ACKC
  :: pc[d]==RESTW -> dval[d] = 0; if :: dfen[d] -> pc[d] = COMMIT :: else -> pc[d] = COPY fi
  :: pc[d]==CLNW ->
     if :: term==d && pe==mpe[d] -> phase = STABLE; newpe(); printf("driver %d: move finished\n", d) :: else fi;
     dreset(d)
  :: else
  fi;
  CHECK
}
inline dabort(d) {
  ((pc[d]==ACKC || pc[d]==COPY || pc[d]==FEN || pc[d]==COMMIT) && term==d && pe==mpe[d]) -> phase = STABLE; newpe(); dreset(d);
  printf("driver %d aborts\n", d); CHECK
}
inline dstale(d) {
  (pc[d]!=IDLE && cst[d]==0 && (term!=d || pe!=mpe[d])) -> dreset(d); printf("driver %d notices it is stale\n", d)
}
inline retry(d) {
  if :: pc[d]==RESTW -> pc[d] = REST :: pc[d]==PURGEW -> pc[d] = PURGE :: pc[d]==CLNW -> pc[d] = CLN :: else fi
}
inline dbreak(d) {
  (dbr<DB && dconn[d]==2 && cst[d]==1 && ocst[d]==0) -> dbr++;
  ocst[d] = 1; onode[d] = cnode[d]; oval[d] = cval[d]; cst[d] = 0; cnode[d] = 0; cval[d] = 0; dconn[d] = 0; retry(d);
  printf("driver %d loses its connection with a command in flight\n", d)
}
inline dfail(d) { (dconn[d]==3) -> dconn[d] = 0; retry(d); printf("driver %d notices a killed connection\n", d) }
inline takeover() { (term==0) -> term = 1; printf("driver 1 takes the lead\n") }
inline remove(r) {
  (M(r) && rmv==0
#ifdef M_KILLFIRST
   && kf==r+1
#endif
  ) -> rmv = 1; members = members & (ALLR - (1<<r));
#if EXPEL==0
#ifndef M_NOABORT       /* removing a router does not abort the move */
  if :: phase==COPYING || phase==FENCED -> phase = STABLE; newpe() :: else fi;
#endif
#elif EXPEL==1
  killsess(r,0,255); killsess(r,1,255);
#elif EXPEL==2
  expst = 1;
#else
  expst = 3; need[term] = 1; if :: pc[term]==COMMIT -> pc[term] = FEN :: else fi;
#endif
  printf("R%d is removed from the members\n", r); CHECK
}
#ifdef M_KILLFIRST      /* kill, then publish the removal (and no kill after it); use with M_NOKILLR */
inline killfirst(r) { (kf==0 && M(r)) -> kf = r+1; killsess(r,0,255); killsess(r,1,255); printf("R%d is killed (before the removal)\n", r) }
#endif
#if EXPEL>1
inline expkill() {
  ((expst==1 || (expst==3 && pc[term]==COMMIT))) ->
  if :: !M(0) -> killsess(0,0,255); killsess(0,1,255) :: else fi;
  if :: !M(1) -> killsess(1,0,255); killsess(1,1,255) :: else fi;

  if :: expst==1 -> expst = 2 :: else -> expst = 0 fi;
  printf("expelled router killed at the nodes\n")
}
inline recopy(d) {
  (expst==2 && term==d && (pc[d]==IDLE || pc[d]==ACKC || pc[d]==COPY || pc[d]==FEN || pc[d]==COMMIT)) -> expst = 0; need[d] = (pc[d]!=IDLE);
  if :: pc[d]==COMMIT -> pc[d] = FEN :: else fi;
  printf("driver %d will copy the whole range again\n", d)
}
#endif
#ifdef FAILOVER
inline replicate() { (fo==0 && rep!=val[0]) -> rep = val[0] }
inline failover() {
  (fo==0 && owner==0 && rep!=val[0]) -> fo = 1; runid = 1;
  val[0] = rep; init2 = rep;
  pre = done | (st[0]==EXEC) | ((st[1]==EXEC)<<1);   /* two ops */
  killsess(0,0,255); killsess(1,0,255);
  if :: conn[0] -> conn[0] = 3 :: else fi; if :: conn[2] -> conn[2] = 3 :: else fi;
  printf("node 0 fails over: value back to %d\n", rep)
}
#endif

active proctype World() {
  d_step {
    owner = 0; phase = STABLE; val[0] = INIT; val[1] = GARB; term = 0;
    members = ALLR; everin = ALLR;
    vin[0] = 1; vin[1] = 1;
    conn[0] = 2; conn[1] = 2; conn[2] = 2; conn[3] = 2; dconn[0] = 2; dconn[1] = 2;
#ifdef COLD             /* R1 has no connection to S yet */
    conn[2] = 0;
#endif
#ifdef FAILOVER
    rep = INIT;
#endif
  }
#ifdef JOIN
  d_step { members = 1; everin = 1; vin[1] = 0; conn[2] = 0; conn[3] = 0 }   /* R1 joins later */
#endif
  do
  :: d_step { refresh(0) } :: d_step { refresh(1) }
#ifdef TRACK_SEND
  :: d_step { ackC(0) } :: d_step { ackC(1) }
#endif
  :: d_step { ackF(0) } :: d_step { ackF(1) }
#ifndef NOABORTS
  :: d_step { abortF(0) } :: d_step { abortF(1) } :: d_step { dabort(0) } :: d_step { dabort(1) } :: d_step { takeabort(0) } :: d_step { takeabort(1) }
#endif
  :: d_step { connect(0,0) } :: d_step { connect(0,1) } :: d_step { connect(1,0) } :: d_step { connect(1,1) }
#ifndef M_NOREAD
  :: d_step { usable(0,0) } :: d_step { usable(0,1) } :: d_step { usable(1,0) } :: d_step { usable(1,1) }
#endif
  :: d_step { send(0,0,W) } :: d_step { send(0,0,DEL) } :: d_step { send(0,0,R) }
#ifdef JOIN  /* without a joiner the routers are symmetric: the first op is R0's */
  :: d_step { send(0,1,W) } :: d_step { send(0,1,DEL) } :: d_step { send(0,1,R) }
#endif
  :: d_step { send(1,0,W) } :: d_step { send(1,0,DEL) } :: d_step { send(1,0,R) }
  :: d_step { send(1,1,W) } :: d_step { send(1,1,DEL) } :: d_step { send(1,1,R) }
#if NOPS>2
  :: d_step { send(2,0,W) } :: d_step { send(2,0,DEL) } :: d_step { send(2,0,R) }
  :: d_step { send(2,1,W) } :: d_step { send(2,1,DEL) } :: d_step { send(2,1,R) }
  :: d_step { recv(2) } :: d_step { exec(2) }
#endif
#if NOPS>3
  :: d_step { send(3,0,W) } :: d_step { send(3,0,DEL) } :: d_step { send(3,0,R) }
  :: d_step { send(3,1,W) } :: d_step { send(3,1,DEL) } :: d_step { send(3,1,R) }
  :: d_step { recv(3) } :: d_step { exec(3) }
#endif
  :: d_step { recv(0) } :: d_step { recv(1) } :: d_step { exec(0) } :: d_step { exec(1) }
#if RB>0
  :: d_step { rbreak(0,0) } :: d_step { rbreak(0,1) } :: d_step { rbreak(1,0) } :: d_step { rbreak(1,1) }
  :: d_step { confirm(0,0) } :: d_step { confirm(0,1) } :: d_step { confirm(1,0) } :: d_step { confirm(1,1) }
#endif
  :: d_step { join(1) }
#ifndef NOREMOVE
  :: d_step { remove(0) } :: d_step { remove(1) }
#endif
#ifdef M_KILLFIRST
  :: d_step { killfirst(0) } :: d_step { killfirst(1) }
#endif
#if EXPEL>1
  :: d_step { expkill() } :: d_step { recopy(0) } :: d_step { recopy(1) }
#endif
#ifndef ONE_DRIVER
  :: d_step { takeover() }
#endif
  :: d_step { begin(0) } :: d_step { begin(1) }
  :: d_step { takeclean(0) } :: d_step { takeclean(1) }
  :: d_step { dconnect(0) } :: d_step { dconnect(1) }
#ifndef M_DNOREAD
  :: d_step { dread(0) } :: d_step { dread(1) }
#endif
  :: d_step { list(0) } :: d_step { list(1) } :: d_step { kill(0) } :: d_step { kill(1) }
  :: d_step { purge(0) } :: d_step { purge(1) }
  :: d_step { ackc(0) } :: d_step { ackc(1) }
  :: d_step { rest(0) } :: d_step { rest(1) }
  :: d_step { take(0,0) } :: d_step { take(0,1) } :: d_step { take(1,0) } :: d_step { take(1,1) }
#ifdef M_TAKELOST
  :: d_step { takelost(0,0) } :: d_step { takelost(0,1) }
#endif
  :: d_step { again(0) } :: d_step { again(1) } :: d_step { fence(0) } :: d_step { fence(1) }
  :: d_step { fen(0) } :: d_step { fen(1) } :: d_step { commit(0) } :: d_step { commit(1) }
  :: d_step { cln(0) } :: d_step { cln(1) }
  :: d_step { dstale(0) } :: d_step { dstale(1) }
#if DB>0
  :: d_step { dbreak(0) } :: d_step { dbreak(1) }
#endif
  :: d_step { dfail(0) } :: d_step { dfail(1) }
  :: d_step { dexec(0) } :: d_step { dexec(1) } :: d_step { oexec(0) } :: d_step { oexec(1) }
#ifdef FAILOVER
  :: d_step { replicate() } :: d_step { failover() }
#endif
  od
}
