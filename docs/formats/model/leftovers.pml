/*
 * leftovers.pml: which copies of cleave's own lie where (the list "leftovers" of the document), foreign keys, FLUSHALL. Spin 6.5.
 * Beside move.pml, which models the fence in depth; here routers are coarser and the driver's writes, purges and aborts finer.
 *
 * MODELLED
 *  - nodes S=0, D=1, one range. Key 0: op i writes i+1, deletes, or is a FLUSHALL (one part for each node, executed apart).
 *    Key 1: there at the start, only FLUSHALL deletes it. One foreign key that cleave must not delete, at a node that does not own the
 *    range: FV (a value under the name of key 0) at D from the start, or fk (a name of its own) at D from the start or put at any later
 *    instant at either node.
 *  - two leaders (driver 1 takes over at any instant; driver 0 keeps believing and sending until its connections are killed); crash and
 *    pause = not scheduled; a broken driver connection whose command still runs later (DB); late commands vanish only by CLIENT KILL.
 *  - one router with a view that lags; removed once at any instant, its old session goes on as a zombie (sends by its old view, its
 *    replies reach clients, its dirty set is lost) until it is swept, a new session takes its place.
 *  - aborts by the driver at any instant, by the router in FENCED, by removal, by takeover; MAXM moves in either direction.
 *  - purge = SCAN, then UNLINK of the keys found, then a compare-and-set that takes the entry off the list.
 *  - -DLOSE (rule 23 (e)): once, while the entry of a commit is there, the destination comes back as a new incarnation, empty or with the value
 *    of the start. Its entry is then kept, and a person says "clean after all" or "take back" (fence without a copy, sweep, one compare-and-set).
 * CHECKED (-DNOINV leaves out the second item)
 *  - after every step: key 0 at the owner is linearizable for a reader that looks at every instant outside FENCED (set of possible
 *    linearizations in csl/csh; an operation counts only once some node has executed it); key 1 goes away only by FLUSHALL, and for good.
 *  - client writes run only at the owner, driver writes and purges never at the owner; an entry never names the owner.
 *  - a protected foreign key (put while the node had no entry and no check under way) is deleted by FLUSHALL only, and
 *    no move commits onto it.
 *  - at every end (nothing enabled): no move, no entry, and the node that does not own the range holds foreign keys only.
 *    There are no cycles (pan -l, run l_cycles), so every run comes to such an end.
 *  - -DLOSE: if the loss comes before the cleaning has begun, and until a person decides or a FLUSHALL runs, the values of both keys at the
 *    commit are still at one of the two nodes; a kept entry whose cleaning has not begun names a whole copy. The loss, and the taking back, replace
 *    the owner's value by an older one (rebase): what was linearized stays so, no other write is forgiven. Key 1 is not checked from the loss to the taking back.
 * NOT MODELLED: joins, router connection breaks, LIST/KILL and naming/reading as two steps (move.pml has them), TTL, three nodes,
 *  several ranges, big values' hidden keys, partial UNLINK batches, servers that restart with older data (only -DREVERT, -DLOSE).
 *
 * RUN: make model ONLY=l_old13 (results.md and runs.txt beside this file).
 */
#ifndef NOPS
#define NOPS 2
#endif
#ifndef MAXM
#define MAXM 2
#endif
#ifndef DB
#define DB 0
#endif
#ifdef NOINV                    /* client-visible and end-state checks only */
#define INVA(x) skip
#else
#define INVA(x) assert(x)
#endif
#define INIT (NOPS+1)
#define FV (NOPS+2)
/* phases */
#define STABLE 0
#define COPYING 1
#define FENCED 2
/* op kinds */
#define W 1
#define DEL 2
#define F 3
/* driver program counters */
#define IDLE 0
#define SWEEP 1
#define CHKD 2
#define MARK 3
#define ACKC 4
#define C0 5
#define C1 6
#define LOOP 7
#define RC 8
#define FEN 9
#define RF 10
#define CSWP 11
#define CSCAN 12
#define CUNL 13
#define CDONE 14
#define PURGE 15
#define PRE 16
#define CSWE 17                 /* as CSWP, for an entry that a commit has made */
#define CCHK 18
#define CBEG 19
#define TBS 20                  /* taking back: sweep, then wait for the acknowledgements */
#define TBF 21

/* the document */
bit owner, term, left[2];
byte phase, pe, moves;
/* servers */
byte val[2];
bit k1[2], fk[2], prot[2];
/* the router (current session) and the zombie (removed session) */
byte vpe, vphase;
bit vowner, ack, dirty, whole, zact, zown, zfen, rmv;
byte zk;
/* client ops: kind, parts sent, parts executed with the reply unread, of a removed session */
byte kind[NOPS], sent[NOPS], exe[NOPS], nops, done, xm;
bit orph[NOPS];
int csl, csh;
bit seen1, ok, fput;
/* drivers: command in flight (cmd), command of a broken connection (ocmd): 0 none, else 1 + node + 2*type + 8*arg;
 * types: 0 key 0 := arg, 1 key 1 := arg, 2 UNLINK the keys in the mask arg */
byte pc[2], mpe[2], cmd[2], ocmd[2];
bit src[2], dconn[2];
byte dk, brk;                   /* nodes at which driver 0's connections are killed */
#ifdef REVERT
byte lastp[2]; bit rv;
#endif
#ifdef LOSE                     /* of the one entry, that of the node that is not the owner (document) and the checks' own */
#ifndef TBMAX
#define TBMAX 1                 /* how often taking back may be tried */
#endif
#define VOID 15
bit ecom, kept, begun, tb;      /* made by a commit; kept for a person; its cleaning has begun; the move under way is a taking back */
bit dif;                        /* the destination is no longer the incarnation that the entry holds */
bit lo, lst, need, ck, taking; byte cv, tbn; /* lost once; lost, not taken back; the source's copy is needed; keys 1 and 0 at the commit (VOID: flushed since) */
#ifdef M_NOBEGUN                /* the entry does not say that its cleaning has begun */
#define WHOLE 1
#else
#define WHOLE (!begun)
#endif
#define TBPC(d) (pc[d]==TBS || pc[d]==TBF)
#else
#define TBPC(d) 0
#endif
#ifdef M_TAKENOCLEAN
bit lterm[2];
#endif
#ifdef M_FSPLIT
bit pend[NOPS], pn[NOPS];
#define LOST(i) pend[i]
#endif
#ifdef M_SWEEPSRC
bit lost[NOPS];                 /* has lost a part: never acknowledged */
#define LOST(i) lost[i]
#endif
#ifndef LOST
#define LOST(i) 0
#endif
byte np, tn, tt, ta;

c_code {
  static void mon(void) {
    unsigned long long c = (unsigned)now.csl | ((unsigned long long)(unsigned)now.csh << 32);
    int V = NOPS + 2, m, v, i, more = 1;
    while (more) { more = 0;
      for (m = 0; m < (1 << NOPS); m++) for (v = 0; v < V; v++) if (c >> (m*V+v) & 1)
        for (i = 0; i < NOPS; i++) if ((now.xm >> i & 1) && !(m >> i & 1)) {
          int b = (m | 1 << i)*V + (now.kind[i] == 1 ? i + 1 : 0);
          if (!(c >> b & 1)) { c |= 1ULL << b; more = 1; }
        }
    }
    for (m = 0; m < (1 << NOPS); m++) for (v = 0; v < V; v++)
      if ((m & now.done) != now.done || (now.phase != 2 && v != now.val[now.owner])) c &= ~(1ULL << (m*V+v));
    now.csl = (int)c; now.csh = (int)(c >> 32);
    now.ok = c != 0;
  }
#ifdef LOSE
  static void rebase(void) {    /* the owner's value has been replaced by an older one: what was linearized stays so, the value is that of the owner now */
    unsigned long long c = (unsigned)now.csl | ((unsigned long long)(unsigned)now.csh << 32), n = 0;
    int V = NOPS + 2, m, v;
    for (m = 0; m < (1 << NOPS); m++) for (v = 0; v < V; v++) if (c >> (m*V+v) & 1) n |= 1ULL << (m*V + now.val[now.owner]);
    now.csl = (int)n; now.csh = (int)(n >> 32);
  }
#endif
}
#define FX(i) (((xm>>(i))&1) && kind[i]==F)
#define FD(i) (((done>>(i))&1) && kind[i]==F)
#if NOPS==1
#define ANYFX FX(0)
#define ANYFD FD(0)
#elif NOPS==2
#define ANYFX (FX(0)||FX(1))
#define ANYFD (FD(0)||FD(1))
#else
#define ANYFX (FX(0)||FX(1)||FX(2))
#define ANYFD (FD(0)||FD(1)||FD(2))
#endif
inline check() {
  c_code { mon(); }; assert(ok);
  if
  :: phase==FENCED -> skip
#ifdef LOSE
  :: phase!=FENCED && lst -> skip
  :: phase!=FENCED && !lst ->
#else
  :: else ->
#endif
     if
     :: k1[owner] -> assert(!seen1 && !ANYFD)        /* a flushed key is readable again */
     :: else -> assert(ANYFX); seen1 = 1             /* a key is lost */
     fi
  fi;
#if defined(LOSE) && !defined(M_TBMOVE)
  assert(!need || ((val[0]==cv || val[1]==cv) && (k1[0] || k1[1] || !ck)));             /* the value of before the commit is at no node */
  assert(!(kept && WHOLE && cv!=VOID) || (val[1-owner]==cv && k1[1-owner]==ck));        /* a kept copy is not whole */
#endif
  INVA(!left[owner])            /* an entry never names the owner */
}
#define TRACKING (vphase==COPYING || vphase==FENCED)
#ifdef M_FOWNER                 /* FLUSHALL counts as a command of the range at the owner only */
#define PART(i) ((sent[i]|exe[i]) & (1<<vowner))
#else
#define PART(i) (sent[i]|exe[i])
#endif
#define FL(i) (!orph[i] && PART(i)!=0)
#if NOPS==1
#define INFL FL(0)
#elif NOPS==2
#define INFL (FL(0)||FL(1))
#else
#define INFL (FL(0)||FL(1)||FL(2))
#endif

/* ---------- the document ---------- */
inline newpe() {
  np = 1;
  do :: np==pe || np==vpe || np==mpe[0] || np==mpe[1] -> np++ :: else -> break od;
  pe = np; np = 0;
  if :: vpe!=mpe[0] && vpe!=mpe[1] -> vpe = 0 :: else fi
}
inline enter(n,d) {
  left[n] = 1;
#ifdef M_TAKENOCLEAN
  lterm[n] = d
#else
  skip
#endif
}
inline abortmove(t) {           /* the compare-and-set that aborts: the entry stays */
#ifdef M_ABORTDROP              /* abort takes the entry off the list */
  left[t] = 0;
#endif
#ifdef LOSE
  tb = 0;
#endif
  phase = STABLE; newpe()
}

/* ---------- router ---------- */
inline refresh() {
  (vpe != pe) ->
  vpe = pe; vphase = phase; vowner = owner; ack = 0;
  if
  :: phase==FENCED
  :: else -> dirty = 0; whole = 0; ack = (phase==COPYING)
  fi;
  printf("R sees phase %d owner %d\n", phase, owner)
}
inline ackF() { (vphase==FENCED && !ack && !INFL) -> ack = 1; printf("R acks FENCED dirty %d whole %d\n", dirty, whole) }
inline abortF() { (vphase==FENCED && phase==FENCED && vpe==pe) -> abortmove(1-owner); printf("R aborts\n"); check() }
inline send(i,k) {
#ifdef M_FNOHOLD                /* FLUSHALL is not held by a fence */
  (nops==i && (vphase!=FENCED || k==F)) -> nops++; kind[i] = k;
#else
  (nops==i && vphase!=FENCED) -> nops++; kind[i] = k;
#endif
#ifdef M_FSPLIT                 /* the part at the other node is sent later; until then it does not count as unfinished */
  if :: k==F -> pend[i] = 1; pn[i] = 1-vowner :: else fi;
  if :: k==F -> sent[i] = 1<<vowner :: else
#else
  if :: k==F -> sent[i] = 3 :: else
#endif
     -> sent[i] = 1<<vowner fi;
  printf("R sends op%d kind %d\n", i, k)
}
inline zsend(i,k) {
  (nops==i && zact && !zfen && ((k==F && zk!=3) || (k!=F && !((zk>>zown)&1)))) -> nops++; kind[i] = k; orph[i] = 1;
#ifdef M_SWEEPSRC
  lost[i] = (k==F && zk!=0);
#endif
  if :: k==F -> sent[i] = 3 & (3-zk) :: else -> sent[i] = 1<<zown fi;
  printf("removed R sends op%d kind %d\n", i, k)
}
inline mark(i) {
  if
  :: !orph[i] && TRACKING && kind[i]==F ->
#ifndef M_FNOMARK               /* FLUSHALL is not noted as a write of the whole range */
     whole = 1
#else
     skip
#endif
  :: !orph[i] && TRACKING && kind[i]!=F -> dirty = 1
  :: else
  fi
}
#ifdef M_FOWNER
inline recvp(i) { (kind[i]==F && (exe[i] & (1<<vowner)) && sent[i]!=0) -> exe[i] = exe[i] & (3-(1<<vowner)); mark(i); printf("op%d: part at the owner finished\n", i) }
#endif
#ifdef M_FSPLIT
inline sendp(i) { (pend[i] && !orph[i] && vphase!=FENCED) -> pend[i] = 0; sent[i] = sent[i] | (1<<pn[i]); pn[i] = 0; printf("R sends the other part of op%d\n", i) }
inline recvp(i) { (pend[i] && exe[i]!=0) -> exe[i] = 0; mark(i); printf("op%d: first part finished\n", i) }
#endif
inline recv(i) {
  (exe[i]!=0 && sent[i]==0 && !LOST(i)) -> exe[i] = 0; mark(i); done = done | (1<<i);
#ifdef M_FDROP                  /* FLUSHALL takes the entries off the list: the nodes are empty */
  if :: kind[i]==F && phase==STABLE -> left[0] = 0; left[1] = 0 :: else fi;
#endif
#ifdef M_FSTOP                  /* FLUSHALL also aborts the move and takes its entry off */
  if :: kind[i]==F -> left[0] = 0; left[1] = 0; if :: phase!=STABLE -> phase = STABLE; newpe() :: else fi :: else fi;
#endif
  printf("op%d acknowledged\n", i); check()
}
inline orp(i) { if :: PART(i)!=0 || (sent[i]|exe[i])!=0 -> orph[i] = 1 :: else fi }
inline remove() {
  (!rmv) -> rmv = 1; zact = 1; zown = vowner; zfen = (vphase==FENCED); zk = 0;
  orp(0);
#if NOPS>1
  orp(1);
#endif
#if NOPS>2
  orp(2);
#endif
  if :: phase!=STABLE -> abortmove(1-owner) :: else fi;
  vpe = pe; vphase = phase; vowner = owner; ack = 0; dirty = 0; whole = 0;
  printf("R is removed (abort) and comes back under a new session\n"); check()
}

/* ---------- servers ---------- */
inline exec(i,n) {
  ((sent[i]>>n)&1) -> sent[i] = sent[i] & (3-(1<<n)); exe[i] = exe[i] | (1<<n); xm = xm | (1<<i);
  if
  :: kind[i]==W -> INVA(n==owner); val[n] = i+1
  :: kind[i]==DEL -> INVA(n==owner); val[n] = 0
  :: else -> val[n] = 0; k1[n] = 0; fk[n] = 0; prot[n] = 0;
#ifdef LOSE
     if :: ecom -> need = 0; cv = VOID :: else fi
#endif
  fi;
  printf("node %d executes op%d (kind %d)\n", n, i, kind[i]); check()
}
inline apply(c) {
  tn = (c-1)&1; tt = ((c-1)>>1)&3; ta = (c-1)>>3;
  INVA(tn!=owner);              /* driver writes never at the owner */
  if
  :: tt==0 -> assert(val[tn]!=FV); val[tn] = ta
  :: tt==1 -> k1[tn] = ta
  :: else ->
     if :: ta&1 -> assert(val[tn]!=FV);
#ifdef REVERT
        if :: val[tn]!=0 -> lastp[tn] = val[tn] :: else fi;
#endif
        val[tn] = 0 :: else fi;
     if :: ta&2 -> k1[tn] = 0 :: else fi;
     if :: ta&4 ->
        assert(!prot[tn]);      /* a foreign key is deleted */
#ifdef REACH_MID                /* witness: a foreign key put in mid-copy is deleted by the cleaning */
        assert(!fk[tn]);
#endif
        fk[tn] = 0 :: else fi
  fi;
  printf("node %d executes type %d arg %d of a driver\n", tn, tt, ta);
  tn = 0; tt = 0; ta = 0
}
inline putf(n) {                /* a foreign writer, not through routers */
  (!fput && n!=owner && !fk[n]) -> fput = 1; fk[n] = 1;
  prot[n] = !left[n] && !(pc[term]==MARK && mpe[term]==pe && src[term]!=n) && !(pc[term]==PRE && src[term]!=n);
  printf("foreign key put on node %d (protected %d)\n", n, prot[n])
}
#ifdef REVERT
inline revert(n) {              /* a server comes back with data of before its last purge */
  (!rv && n!=owner && !left[n] && phase==STABLE && lastp[n]!=0 && val[n]==0) -> rv = 1; val[n] = lastp[n];
  printf("node %d restarts with older data\n", n)
}
#endif

#ifdef LOSE
inline lose(w) {                /* between commit and cleaning the destination comes back as a new incarnation: empty, or with an old copy */
  (!lo && phase==STABLE && ecom && left[1-owner] && !kept) -> lo = 1; lst = 1; dif = 1;
  need = (!begun && cv!=VOID && !(pc[term]==CBEG && src[term]!=owner));
  val[owner] = w; k1[owner] = (w!=0); c_code { rebase(); };
  printf("node %d comes back as a new incarnation with value %d (needed %d)\n", owner, w, need); check()
}
#endif

/* ---------- drivers ---------- */
#define UP(d,n) (dconn[d] && !((d)==0 && ((dk>>(n))&1)))
#define DST(d) (1-src[d])
#define UNLIST kept = 0; ecom = 0; begun = 0; dif = 0; cv = VOID; ck = 0
#define HAS(n) ((val[n]!=0) | (k1[n]<<1) | (fk[n]<<2))
#define MINE(d) (term==d && pe==mpe[d])
inline dreset(d) { pc[d] = IDLE; mpe[d] = 0; src[d] = 0 }
inline put(d,n,t,a) { cmd[d] = 1 + (n) + 2*(t) + 8*(a); printf("driver %d sends type %d arg %d to node %d\n", d, t, a, n) }
inline killold(d,n) {           /* sweep of node n by the leader of this term */
  if
  :: d==1 && term==1 -> dk = dk | (1<<n);
     if :: cmd[0]!=0 && ((cmd[0]-1)&1)==n -> cmd[0] = 0 :: else fi;
     if :: ocmd[0]!=0 && ((ocmd[0]-1)&1)==n -> ocmd[0] = 0 :: else fi
  :: else
  fi
}
inline zkill(i) {              /* parts not executed vanish; an operation that lost a part is never acknowledged */
  if :: orph[i] && (sent[i] & zk)!=0 -> sent[i] = sent[i] & (3-zk);
#ifdef M_SWEEPSRC
     lost[i] = 1;
#endif
     if :: sent[i]==0 -> exe[i] = 0 :: else fi :: else fi
}
#ifdef CHECKFIRST               /* the other order: check first, then one compare-and-set begins the move and makes the entry, then sweep */
inline precheck(d) {
  (pc[d]==IDLE && term==d && phase==STABLE && moves<MAXM && cmd[d]==0 && ocmd[d]==0 && dconn[d] && !left[1-owner] && HAS(1-owner)==0) ->
  src[d] = owner; pc[d] = PRE; printf("driver %d finds the destination empty\n", d)
}
inline begin(d) {
  (pc[d]==PRE && cmd[d]==0 && ocmd[d]==0) ->
  if
  :: term==d && phase==STABLE && owner==src[d] && !left[1-owner] && moves<MAXM ->
     moves++; phase = COPYING; newpe(); mpe[d] = pe; pc[d] = SWEEP; enter(1-owner,d);
     printf("driver %d begins a move from %d and enters (node %d, range)\n", d, owner, 1-owner)
  :: else -> dreset(d)
  fi; check()
}
#else
inline begin(d) {
  (pc[d]==IDLE && term==d && phase==STABLE && moves<MAXM && cmd[d]==0 && ocmd[d]==0 && dconn[d]
#ifdef M_KEPTBEGIN              /* a kept entry does not stop a move to its node */
   && (!left[1-owner] || kept)
#else
#ifndef M_BEGINDIRTY            /* a move begins to a node that has an entry of the range */
   && !left[1-owner]
#endif
#endif
  ) ->
  moves++; phase = COPYING; newpe(); mpe[d] = pe; src[d] = owner; pc[d] = SWEEP;
#ifdef M_ENTRYBEGIN             /* the entry is made by the compare-and-set that begins the move, the check comes after */
  enter(1-owner,d);
#endif
  printf("driver %d begins a move from %d\n", d, owner)
}
#endif
inline sweep(d) {
#ifdef LOSE
  ((pc[d]==SWEEP || pc[d]==TBS) && dconn[d]) -> taking = (pc[d]==TBS);
#else
  (pc[d]==SWEEP && dconn[d]) ->
#endif
  killold(d,0); killold(d,1);
#ifndef M_NOSWEEP               /* no sweep when a move begins */
  if :: term==d ->
#ifdef M_SWEEPSRC               /* removed sessions are swept at the source only */
     zk = zk | (1<<src[d]);
#else
     zk = 3;
#endif
     zkill(0);
#if NOPS>1
     zkill(1);
#endif
#if NOPS>2
     zkill(2);
#endif
     if :: zk==3 -> zact = 0; zown = 0; zfen = 0 :: else fi
  :: else fi;
#endif
#ifdef CHECKFIRST
  pc[d] = ACKC;
#else
  pc[d] = CHKD;
#endif
#ifdef LOSE
  if :: taking -> pc[d] = TBF; taking = 0 :: else fi;
#endif
  printf("driver %d has swept both nodes\n", d)
}
inline chk(d) {
  (pc[d]==CHKD && UP(d,DST(d)) && cmd[d]==0) ->
#ifdef M_OLD13                  /* the old rule 13: everything found is purged */
  if :: HAS(DST(d))!=0 -> put(d, DST(d), 2, HAS(DST(d))); pc[d] = PURGE :: else -> pc[d] = MARK fi
#else
  if
#ifdef M_NOCHECK                /* keys found at the destination do not stop the move */
  :: 1 -> pc[d] = MARK
#else
  :: HAS(DST(d))==0 -> pc[d] = MARK; printf("driver %d finds the destination empty\n", d)
#ifdef M_BEGINDIRTY             /* (what is listed is not foreign) */
  :: HAS(DST(d))!=0 && left[DST(d)] -> pc[d] = MARK; printf("driver %d finds listed keys only\n", d)
  :: HAS(DST(d))!=0 && !left[DST(d)] ->
#else
  :: else ->
#endif
     printf("driver %d finds foreign keys: abort\n", d);
     if :: MINE(d) ->
#ifdef M_ENTRYBEGIN
        left[DST(d)] = 0;       /* nothing was copied: this abort may take the entry off */
#endif
        phase = STABLE; newpe() :: else fi; dreset(d)
#endif
  fi
#endif
}
inline markc(d) {               /* compare-and-set: (destination, range) enters the list */
  (pc[d]==MARK) ->
  if
#ifdef M_NOMARKCAS              /* the driver goes on although its entry was refused */
  :: !MINE(d) -> pc[d] = ACKC
#endif
  :: MINE(d) -> pc[d] = ACKC;
#ifndef M_LATEMARK              /* the entry is made after the first copies */
     enter(DST(d),d);
#endif
     printf("driver %d enters (node %d, range)\n", d, DST(d))
#ifndef M_NOMARKCAS
  :: else -> dreset(d)
#endif
  fi; check()
}
#define ACKED(d) (ack && vpe==mpe[d])
inline ackc(d) { (pc[d]==ACKC && ACKED(d) && dconn[d]) -> pc[d] = C0; printf("driver %d has the COPYING acks\n", d) }
inline copy0(d) {
  (pc[d]==C0 && cmd[d]==0 && UP(d,src[d]) && UP(d,DST(d))) ->
  if :: val[src[d]]==0 -> pc[d] = C1           /* SCAN does not list it */
     :: else -> put(d, DST(d), 0, val[src[d]]) fi
}
inline copy1(d) {
  (pc[d]==C1 && cmd[d]==0 && UP(d,src[d]) && UP(d,DST(d))) ->
  if :: k1[src[d]]==0 -> pc[d] = LOOP :: else -> put(d, DST(d), 1, 1) fi
}
inline again(d) {
  ((pc[d]==RC || pc[d]==RF) && cmd[d]==0 && UP(d,src[d]) && UP(d,DST(d))) ->
  if :: val[src[d]]==0 -> put(d, DST(d), 2, 1) :: else -> put(d, DST(d), 0, val[src[d]]) fi
}
inline take(d) { (pc[d]==LOOP && vpe==mpe[d] && dirty) -> dirty = 0; pc[d] = RC; printf("driver %d takes the dirty set\n", d) }
inline flushed(d) {             /* the whole range is marked: abort */
  (((pc[d]==LOOP && vpe==mpe[d]) || (pc[d]==FEN && ACKED(d))) && whole) ->
  if :: MINE(d) -> abortmove(DST(d)) :: else fi; dreset(d); printf("driver %d aborts: FLUSHALL in the move\n", d); check()
}
inline fence(d) {
  (pc[d]==LOOP) ->
  if
  :: MINE(d) -> phase = FENCED; newpe(); mpe[d] = pe; pc[d] = FEN;
#ifdef M_LATEMARK
     enter(DST(d),d);
#endif
     printf("driver %d publishes FENCED\n", d)
  :: else -> dreset(d)
  fi
}
inline last(d) { (pc[d]==FEN && ACKED(d) && dirty && !whole) -> dirty = 0; pc[d] = RF; printf("driver %d copies the last dirty keys\n", d) }
inline commit(d) {
  (pc[d]==FEN && ACKED(d) && !dirty && !whole) ->
  if
  :: MINE(d) && phase==FENCED ->
     assert(!prot[DST(d)]);     /* committed onto a foreign key */
#ifdef REACH_COMMIT             /* witness: a second commit, back to S, after both ops were acknowledged and a takeover */
     assert(!(src[d]==1 && done==(1<<NOPS)-1 && term==1 && rmv));
#endif
#ifdef REACH_F                  /* witness: a commit after a move that met a FLUSHALL */
     assert(!(moves==2 && ANYFD && k1[owner]==0 && val[owner]!=0));
#endif
     owner = DST(d); phase = STABLE; newpe();
#ifndef M_COMMITKEEP            /* the destination's entry is still there after the commit */
     left[owner] = 0;
#endif
#ifndef M_COMMITNOENTRY         /* the source is not entered by the commit */
     enter(1-owner,d);
#endif
#ifdef LOSE
     ecom = 1; kept = 0; begun = 0; dif = 0; need = 0; cv = val[owner]; ck = k1[owner];
#endif
     fk[owner] = 0;             /* a foreign key put in mid-copy has become a key of the range */
     printf("driver %d COMMITS owner %d\n", d, owner)
  :: else
  fi;
  dreset(d); check()
}
inline clean(d,n) {             /* the leader cleans every entry that no move uses, at once */
  (pc[d]==IDLE && term==d && phase==STABLE && left[n]
#ifndef M_NOOWN                 /* the leader does not wait for (or kill) the unfinished commands of its own aborted move */
   && cmd[d]==0 && ocmd[d]==0
#else
   && (cmd[d]==0 || ocmd[d]==0)
#endif
   && dconn[d]
#ifdef LOSE
   && !kept
#endif
#ifdef M_NOCLEAN                /* the old rule 22: entries of aborted moves wait for the next move */
   && moves>9
#endif
#ifdef M_TAKENOCLEAN            /* a new leader does not clean what older ones left */
   && lterm[n]==d
#endif
  ) -> src[d] = n; pc[d] = CSWP;
#ifdef LOSE
  if :: ecom -> pc[d] = CSWE :: else fi;
#endif
#ifdef M_NOOWN
  if :: cmd[d]!=0 -> ocmd[d] = cmd[d]; cmd[d] = 0 :: else fi;
#endif
  printf("driver %d starts to clean node %d\n", d, n)
}
inline cswp(d) {
  ((pc[d]==CSWP || pc[d]==CSWE) && UP(d,src[d])) ->
#ifndef M_NOCSWEEP              /* the purge does not begin with a sweep of the node */
  killold(d,src[d]);
#endif
  if :: pc[d]==CSWE -> pc[d] = CCHK :: else -> pc[d] = CSCAN fi; printf("driver %d has swept node %d\n", d, src[d])
}
#ifdef LOSE
inline cchk(d) {                /* rule 23 (e): is the destination the incarnation that the entry holds? If not: compare-and-set, the entry is kept */
  (pc[d]==CCHK) ->
  if
  :: src[d]==owner || !left[src[d]] || !ecom || kept -> dreset(d)
#ifndef M_NOINC                 /* cleaned without a look at the destination's incarnation */
  :: src[d]!=owner && left[src[d]] && ecom && !kept && dif ->
     if :: term==d -> kept = 1; printf("driver %d keeps the entry (begun %d)\n", d, begun) :: else fi; dreset(d)
  :: src[d]!=owner && left[src[d]] && ecom && !kept && !dif -> pc[d] = CBEG; printf("driver %d finds the destination the same\n", d)
#else
  :: src[d]!=owner && left[src[d]] && ecom && !kept -> pc[d] = CBEG
#endif
  fi; check()
}
inline cbeg(d) {                /* compare-and-set: the entry says that its cleaning has begun */
  (pc[d]==CBEG) ->
  if :: term==d && src[d]!=owner && left[src[d]] && ecom && !kept -> begun = 1; pc[d] = CSCAN; printf("driver %d begins to delete at node %d\n", d, src[d])
     :: else -> dreset(d) fi
}
inline pclean() {               /* a person: clean it after all. The entry is an ordinary one */
  (kept && phase==STABLE) -> UNLIST; need = 0; printf("driver %d, told by a person: clean after all\n", term)
}
inline takeback() {             /* the compare-and-set of taking back */
  assert(!prot[1-owner]);
#ifdef REACH_BACK               /* witness: taken back after a takeover and a write acknowledged by the destination after it had come back */
  assert(!(term==1 && done!=0 && val[owner]!=0 && val[owner]!=INIT && val[owner]!=cv && cv!=VOID && !begun));
#endif
#ifdef REACH_PART               /* witness: taken back after the cleaning had begun */
  assert(!(begun && val[1-owner]==0 && cv!=0 && cv!=VOID));
#endif
  owner = 1-owner; need = 0; seen1 = 0; lst = begun;
#ifndef M_TBKEEP                /* the kept entry stays on the list */
  left[owner] = 0;
#endif
#ifndef M_TBNOENTER             /* the destination is not entered */
  left[1-owner] = 1;
#endif
  UNLIST; fk[owner] = 0; c_code { rebase(); };
#ifndef M_TBMOVE
  phase = STABLE; tb = 0; newpe();
#endif
  printf("driver %d takes the range back: owner %d\n", term, owner); check()
}
inline tbegin(d) {              /* a person: take it back. A fence without a copy */
  (pc[d]==IDLE && term==d && phase==STABLE && kept && tbn<TBMAX && cmd[d]==0 && ocmd[d]==0 && dconn[d]) ->
  tbn++;
#ifdef M_TBNOFENCE              /* the compare-and-set alone */
  takeback()
#else
  phase = FENCED; tb = 1; newpe(); mpe[d] = pe; src[d] = owner; pc[d] = TBS;
#ifdef M_TBNOSWEEP              /* no sweep */
  pc[d] = TBF;
#endif
  printf("driver %d, told by a person, publishes FENCED to take the range back\n", d)
#endif
}
inline tcommit(d) {
  (pc[d]==TBF && ACKED(d)) ->
  if :: MINE(d) && phase==FENCED && kept -> takeback() :: else fi;
  dreset(d)
}
#ifdef M_TBMOVE                 /* taking back does not heed a move under way (no client command in flight, routers see it at once) */
inline tbmove() { (kept && phase!=STABLE && !INFL && !zact) -> takeback(); vowner = owner }
#endif
#endif
inline cscan(d) {
  (pc[d]==CSCAN && UP(d,src[d]) && cmd[d]==0) ->
#ifdef M_DROPEARLY              /* the entry goes before the replies of the purge are in */
  if :: term==d -> left[src[d]] = 0 :: else fi;
#endif
  if
  :: HAS(src[d])==0 -> pc[d] = CDONE; printf("driver %d finds node %d clean\n", d, src[d])
  :: else -> put(d, src[d], 2, HAS(src[d])); pc[d] = CUNL
  fi
}
inline cdone(d) {               /* compare-and-set: the entry leaves the list */
  (pc[d]==CDONE) ->
#ifdef M_CLEARBLIND             /* written without compare-and-set */
  left[src[d]] = 0; printf("driver %d takes (node %d, range) off the list\n", d, src[d]);
#else
#ifdef LOSE
  if :: term==d && left[src[d]] && !kept -> UNLIST :: else fi;
#endif
  if :: term==d ->
#ifdef REACH_CLEAN              /* witness: the new leader ends the cleaning of an aborted move of the old one, a write acknowledged */
     assert(!(d==1 && moves==1 && owner==0 && src[1]==1 && (dk&2) && done!=0 && !rmv));
#endif
     left[src[d]] = 0; printf("driver %d takes (node %d, range) off the list\n", d, src[d]) :: else fi;
#endif
  dreset(d); check()
}
inline dexec(d) {
  (cmd[d]!=0) -> apply(cmd[d]); cmd[d] = 0;
  if
  :: pc[d]==PURGE -> pc[d] = MARK
  :: pc[d]==C0 -> pc[d] = C1
  :: pc[d]==C1 -> pc[d] = LOOP
  :: pc[d]==RC -> pc[d] = LOOP
  :: pc[d]==RF -> pc[d] = FEN
  :: pc[d]==CUNL -> pc[d] = CDONE
  :: else
  fi;
  check()
}
inline oexec(d) { (ocmd[d]!=0) -> printf("LATE: "); apply(ocmd[d]); ocmd[d] = 0; check() }
inline dabort(d) { (((pc[d]>=SWEEP && pc[d]<=RF) || TBPC(d)) && MINE(d)) -> abortmove(DST(d)); dreset(d); printf("driver %d aborts\n", d); check() }
inline takeabort(d) { (pc[d]==IDLE && term==d && phase!=STABLE) -> abortmove(1-owner); printf("driver %d (new leader) aborts\n", d); check() }
inline dstale(d) {
  (pc[d]!=IDLE && (term!=d || (pc[d]<=RF && pe!=mpe[d]) || (TBPC(d) && pe!=mpe[d]) || (pc[d]==PURGE && pe!=mpe[d]))) -> dreset(d); printf("driver %d drops its work\n", d)
}
inline dbreak(d) {
  (brk<DB && dconn[d] && cmd[d]!=0 && ocmd[d]==0) -> brk++; ocmd[d] = cmd[d]; cmd[d] = 0; dconn[d] = 0;
  if :: pc[d]==CUNL -> pc[d] = CSCAN :: pc[d]==PURGE -> pc[d] = CHKD :: else fi;
  printf("driver %d loses its connection with a command in flight\n", d)
}
inline reconn(d) {              /* rule 5, then CLIENT KILL of the old id (rule 8) */
  (!dconn[d] && term==d) -> dconn[d] = 1;
#ifndef M_NOOWN
  ocmd[d] = 0;
#endif
  printf("driver %d reconnects\n", d)
}

active proctype World() {
  d_step {
    val[0] = INIT; k1[0] = 1; k1[1] = 0; dconn[0] = 1; dconn[1] = 1; pe = 1; vpe = 1; csl = 1<<INIT;
#ifdef LOSE
    cv = VOID;
#endif
  }
#ifndef NOFOREIGN
  if
  :: skip
  :: d_step { fk[1] = 1; prot[1] = 1; fput = 1; printf("a foreign key lies on node 1\n") }
  :: d_step { val[1] = FV; printf("a foreign value of key 0 lies on node 1\n") }
  fi;
#else
  fput = 1;
#endif
  do
  :: d_step { refresh() } :: d_step { ackF() }
#ifndef NOABORTS
  :: d_step { abortF() } :: d_step { dabort(0) } :: d_step { dabort(1) }
#endif
  :: d_step { takeabort(0) } :: d_step { takeabort(1) }
  :: d_step { send(0,W) } :: d_step { send(0,DEL) } :: d_step { send(0,F) }
  :: d_step { exec(0,0) } :: d_step { exec(0,1) } :: d_step { recv(0) }
#if NOPS>1
  :: d_step { send(1,W) } :: d_step { send(1,DEL) } :: d_step { send(1,F) }
  :: d_step { exec(1,0) } :: d_step { exec(1,1) } :: d_step { recv(1) }
#endif
#if NOPS>2
  :: d_step { send(2,W) } :: d_step { send(2,DEL) } :: d_step { send(2,F) }
  :: d_step { exec(2,0) } :: d_step { exec(2,1) } :: d_step { recv(2) }
#endif
#if defined(M_FOWNER) || defined(M_FSPLIT)
  :: d_step { recvp(0) } :: d_step { recvp(1) }
#endif
#ifdef M_FSPLIT
  :: d_step { sendp(0) } :: d_step { sendp(1) }
#endif
#ifndef NOREMOVE
  :: d_step { remove() }
  :: d_step { zsend(0,W) } :: d_step { zsend(0,DEL) } :: d_step { zsend(0,F) }
#if NOPS>1
  :: d_step { zsend(1,W) } :: d_step { zsend(1,DEL) } :: d_step { zsend(1,F) }
#endif
#endif
  :: d_step { putf(0) } :: d_step { putf(1) }
#ifdef REVERT
  :: d_step { revert(0) } :: d_step { revert(1) }
#endif
#ifdef LOSE
  :: d_step { lose(0) } :: d_step { lose(INIT) } :: d_step { pclean() }
  :: d_step { cchk(0) } :: d_step { cchk(1) } :: d_step { cbeg(0) } :: d_step { cbeg(1) }
#ifdef M_TBMOVE
  :: d_step { tbmove() }
#else
  :: d_step { tbegin(0) } :: d_step { tbegin(1) } :: d_step { tcommit(0) } :: d_step { tcommit(1) }
#endif
#endif
#ifndef ONE_DRIVER
  :: d_step { (term==0) -> term = 1; printf("driver 1 takes the lead\n") }
#endif
#ifdef CHECKFIRST
  :: d_step { precheck(0) } :: d_step { precheck(1) }
#endif
  :: d_step { begin(0) } :: d_step { begin(1) } :: d_step { sweep(0) } :: d_step { sweep(1) }
  :: d_step { chk(0) } :: d_step { chk(1) } :: d_step { markc(0) } :: d_step { markc(1) }
  :: d_step { ackc(0) } :: d_step { ackc(1) } :: d_step { copy0(0) } :: d_step { copy0(1) } :: d_step { copy1(0) } :: d_step { copy1(1) }
  :: d_step { again(0) } :: d_step { again(1) } :: d_step { take(0) } :: d_step { take(1) } :: d_step { flushed(0) } :: d_step { flushed(1) }
  :: d_step { fence(0) } :: d_step { fence(1) } :: d_step { last(0) } :: d_step { last(1) } :: d_step { commit(0) } :: d_step { commit(1) }
  :: d_step { clean(0,0) } :: d_step { clean(0,1) } :: d_step { clean(1,0) } :: d_step { clean(1,1) }
  :: d_step { cswp(0) } :: d_step { cswp(1) } :: d_step { cscan(0) } :: d_step { cscan(1) } :: d_step { cdone(0) } :: d_step { cdone(1) }
  :: d_step { dexec(0) } :: d_step { dexec(1) } :: d_step { dstale(0) } :: d_step { dstale(1) }
#if DB>0
  :: d_step { oexec(0) } :: d_step { oexec(1) } :: d_step { dbreak(0) } :: d_step { dbreak(1) } :: d_step { reconn(0) } :: d_step { reconn(1) }
#else
#ifdef M_NOOWN
  :: d_step { oexec(0) } :: d_step { oexec(1) }
#endif
#endif
  :: else -> break
  od;
  /* nothing is enabled: faults have stopped and all work is done */
  assert(phase==STABLE && !left[0] && !left[1]);                    /* the list is empty */
#ifdef REVERT
  assert(rv || ((val[1-owner]==0 || val[1-owner]==FV) && !k1[1-owner]))
#else
  assert((val[1-owner]==0 || val[1-owner]==FV) && !k1[1-owner])     /* no copy is left */
#endif
}
