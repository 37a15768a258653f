package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	// The search is exponential in the operations that overlap, so a key's life is short: then the
	// next generation of it begins.
	opsOfAKey     = 120
	unknownsOfKey = 4
	checkPatience = 20 * time.Second
)

// One key and all that was done to it.
type history struct {
	name, kind string

	mutex    sync.Mutex
	begun    int
	unknowns int
	ops      []porcupine.Operation
	notes    []string // about absurd replies
}

// begin takes one of the operations that the key may have; false when it has had them all.
func (h *history) begin() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.begun >= opsOfAKey || h.unknowns >= unknownsOfKey {
		return false
	}
	h.begun++
	return true
}

// add keeps an operation that is done or of unknown outcome.
func (h *history) add(client int, in input, reply interface{}, what outcome) {
	out := ""
	if what == unknown {
		in.Unknown, in.Return = true, forever
	} else {
		out = show(reply)
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if what == unknown {
		h.unknowns++
	}
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: client, Input: in, Call: in.Call, Output: out, Return: in.Return,
	})
}

func (h *history) note(text string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.notes = append(h.notes, text)
}

// overlapping counts the operations that were sent while another one of the key was under way:
// where there are none, any store would pass.
func (h *history) overlapping() int {
	sort.Slice(h.ops, func(a, b int) bool { return h.ops[a].Call < h.ops[b].Call })
	overlaps, latest := 0, int64(-1)
	for _, op := range h.ops {
		if op.Call < latest {
			overlaps++
		}
		if op.Return != forever && op.Return > latest {
			latest = op.Return
		}
	}
	return overlaps
}

func (h *history) check() porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(models[h.kind], h.ops, checkPatience)
}

// write leaves the history for a person, with times as the routers' logs show them.
func (h *history) write(directory string, start time.Time, verdict string) string {
	path := filepath.Join(directory, strings.NewReplacer(":", "_", "{", "", "}", "").Replace(h.name))
	sort.Slice(h.ops, func(a, b int) bool { return h.ops[a].Call < h.ops[b].Call })
	var out strings.Builder
	fmt.Fprintf(&out, "%s (%s): %s\n", h.name, h.kind, verdict)
	for _, note := range h.notes {
		fmt.Fprintf(&out, "%s\n", note)
	}
	clock := func(at int64) string {
		if at == forever {
			return "never       "
		}
		return start.Add(time.Duration(at)).UTC().Format("15:04:05.000000")
	}
	for _, op := range h.ops {
		in := op.Input.(input)
		reply := op.Output.(string)
		if in.Unknown {
			reply = "(unknown outcome)"
		}
		fmt.Fprintf(&out, "%s .. %s client %2d: %s %s %d -> %s\n", clock(op.Call), clock(op.Return),
			op.ClientId, in.Name, in.Value, in.Number, reply)
	}
	os.WriteFile(path, []byte(out.String()), 0o644)
	return path
}

// The keys in use, and those whose life is over.
type keyring struct {
	mutex  sync.Mutex
	active []*history
	counts []int // generation of each place
	kinds  []string
	all    []*history
}

// How many keys of each kind are in use at once.
var places = []struct {
	kind  string
	count int
}{{"register", 10}, {"counter", 6}, {"list", 5}, {"set", 5}, {"ttl", 6}}

func newKeyring() *keyring {
	ring := &keyring{}
	for _, place := range places {
		for i := 0; i < place.count; i++ {
			ring.kinds = append(ring.kinds, place.kind)
			ring.active = append(ring.active, nil)
			ring.counts = append(ring.counts, 0)
			ring.renew(len(ring.active) - 1)
		}
	}
	return ring
}

func (r *keyring) renew(place int) {
	kind := r.kinds[place]
	r.counts[place]++
	name := fmt.Sprintf("%s:%d:%d", kind, place, r.counts[place])
	r.active[place] = &history{name: name, kind: kind}
	r.all = append(r.all, r.active[place])
}

// take gives a key for one operation. Half of the time all clients choose the same one for some
// milliseconds: operations that do not overlap prove little.
func (r *keyring) take(random *rand.Rand, since time.Duration) *history {
	place := random.Intn(len(r.active))
	if random.Intn(2) == 0 {
		slot := uint64(since/(10*time.Millisecond)) * 0x9e3779b97f4a7c15
		place = int((slot >> 33) % uint64(len(r.active)))
	}
	return r.takeAt(place)
}

func (r *keyring) takeAt(place int) *history {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for !r.active[place].begin() {
		r.renew(place)
	}
	return r.active[place]
}

// takeRegisters gives some different registers, for a request over several keys.
func (r *keyring) takeRegisters(random *rand.Rand, wanted int) []*history {
	var some []*history
	for _, place := range random.Perm(places[0].count)[:wanted] {
		some = append(some, r.takeAt(place))
	}
	return some
}

// What the checking of all histories found.
type judgement struct {
	Keys            int      `json:"keys"`
	NonLinearizable int      `json:"nonlinearizable"`
	Undecided       int      `json:"undecided"`
	Absurd          int      `json:"absurd"`
	Operations      int      `json:"operations"`
	Overlapping     int      `json:"overlapping"`
	Evidence        []string `json:"evidence"`
}

// checkAll judges all histories on two cores.
func checkAll(all []*history, directory string, start time.Time) judgement {
	var (
		result judgement
		mutex  sync.Mutex
		wait   sync.WaitGroup
		work   = make(chan *history)
	)
	for i := 0; i < 2; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for h := range work {
				overlaps, verdict := h.overlapping(), h.check()
				mutex.Lock()
				result.Keys++
				result.Operations += len(h.ops)
				result.Overlapping += overlaps
				if len(h.notes) > 0 {
					result.Absurd++
				}
				if verdict == porcupine.Illegal {
					result.NonLinearizable++
				} else if verdict == porcupine.Unknown {
					result.Undecided++
				}
				if (verdict != porcupine.Ok || len(h.notes) > 0) && len(result.Evidence) < 40 {
					result.Evidence = append(result.Evidence,
						h.write(directory, start, string(verdict)))
				}
				mutex.Unlock()
			}
		}()
	}
	for _, h := range all {
		if len(h.ops) > 0 {
			work <- h
		}
	}
	close(work)
	wait.Wait()
	return result
}
