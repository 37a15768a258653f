// The load of the fleet's tests with faults: it drives all routers at once, keeps the history of
// each key, and judges afterwards whether one copy of the data could have answered like that.
//
// It writes a line `filled` when its unmoving keys are there, runs until its standard input says
// `finish` (or ends: then it gives up), reads every key once more, and ends standard output with
// one JSON object.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type options struct {
	routers     []string
	clients     int // for histories
	writers     int // of single-writer registers
	filler      int
	fillerBytes int
	seed        int64
	evidence    string
	lie         bool
}

// A time in which a register could not be written through a router: from the start of the first
// attempt that failed (or of a slow one) to the end of the one that succeeded.
type outage struct {
	Router  int     `json:"router"`
	Key     string  `json:"key"`
	StartMs float64 `json:"start_ms"`
	EndMs   float64 `json:"end_ms"`
	Open    bool    `json:"open"` // it lasted until the end
	Why     string  `json:"why"`
}

// Shorter ones are not worth a line.
const outageMin = 30 * time.Millisecond

type load struct {
	options options
	start   time.Time
	ring    *keyring
	value   atomic.Int64 // makes written values unique

	operations, acked, unknowns atomic.Int64
	stopping                    atomic.Bool

	mutex     sync.Mutex
	registers []*register
	outages   []outage
	failures  map[string]int
	findings  []string
	lost      int
	wrong     int
	unread    int
}

func main() {
	var o options
	routers := flag.String("routers", "", "host:port of each router, with commas")
	flag.IntVar(&o.clients, "clients", 15, "clients whose histories are checked")
	flag.IntVar(&o.writers, "writers", 9, "clients with registers of their own")
	flag.IntVar(&o.filler, "filler", 6000, "keys that are written once and must stay")
	flag.IntVar(&o.fillerBytes, "filler-bytes", 400, "size of their values")
	flag.Int64Var(&o.seed, "seed", 1, "of the load's choices")
	flag.StringVar(&o.evidence, "evidence", ".", "directory for the histories of bad keys")
	flag.BoolVar(&o.lie, "lie", false, "call some writes acknowledged that were never sent: the "+
		"check has to notice")
	flag.Parse()
	o.routers = strings.Split(*routers, ",")
	l := &load{options: o, start: time.Now(), ring: newKeyring(), failures: map[string]int{}}
	l.run()
}

func (l *load) run() {
	l.fill()
	fmt.Println("filled")
	var clients sync.WaitGroup
	spawn := func(count int, body func(number int)) {
		for i := 0; i < count; i++ {
			clients.Add(1)
			go func(number int) {
				defer clients.Done()
				body(number)
			}(i)
		}
	}
	spawn(l.options.clients, l.client)
	spawn(l.options.writers, l.writer)
	spawn(len(l.options.routers), l.reader)
	if line, _ := bufio.NewReader(os.Stdin).ReadString('\n'); line != "finish\n" {
		os.Exit(1)
	}
	l.stopping.Store(true)
	clients.Wait()
	if l.options.lie && len(l.registers) > 0 {
		l.registers[0].wrote(l.registers[0].next(), done)
	}
	l.readEverything()
	judged := checkAll(l.ring.all, l.options.evidence, l.start)
	l.report(judged)
}

func (l *load) report(judged judgement) {
	type failure struct {
		What  string `json:"what"`
		Count int    `json:"count"`
	}
	failures := []failure{}
	for what, count := range l.failures {
		failures = append(failures, failure{what, count})
	}
	sort.Slice(failures, func(a, b int) bool { return failures[a].Count > failures[b].Count })
	if len(failures) > 30 {
		failures = failures[:30]
	}
	sort.Slice(l.outages, func(a, b int) bool { return l.outages[a].StartMs < l.outages[b].StartMs })
	json.NewEncoder(os.Stdout).Encode(map[string]interface{}{
		"operations": l.operations.Load(), "acked_writes": l.acked.Load(),
		"unknown": l.unknowns.Load(), "lost": l.lost, "wrong": l.wrong, "unread": l.unread,
		"findings": l.findings, "judged": judged, "outages": l.outages, "failures": failures,
	})
}

func (l *load) since() int64 { return int64(time.Since(l.start)) }

func (l *load) wallMs(at int64) float64 {
	return float64(l.start.UnixNano()+at) / 1e6
}

func (l *load) random(of string, number int) *rand.Rand {
	seed := l.options.seed*1000 + int64(number)
	for _, letter := range of {
		seed = seed*31 + int64(letter)
	}
	return rand.New(rand.NewSource(seed))
}

func (l *load) connect(number int) *conn {
	return &conn{address: l.options.routers[number%len(l.options.routers)]}
}

// pace keeps a client to a rate: the machine has few cores, and a test that starves the fleet
// measures itself.
func pace(begun time.Time, period time.Duration) {
	if rest := period - time.Since(begun); rest > 0 {
		time.Sleep(rest)
	}
}

func (l *load) failed(reply interface{}, err error) {
	kind := failureKind(reply, err)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.failures) < 1000 || l.failures[kind] > 0 {
		l.failures[kind]++
	}
}

func (l *load) found(f finding) {
	if !f.lost && !f.wrong {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if f.lost {
		l.lost++
	} else {
		l.wrong++
	}
	if len(l.findings) < 100 {
		l.findings = append(l.findings, time.Now().UTC().Format("15:04:05.000000 ")+f.text)
	}
}

// ask sends a request and keeps the counts. Its times are those of the history.
func (l *load) ask(c *conn, write, several bool, args ...string) (
	interface{}, outcome, int64, int64) {
	call := l.since()
	reply, sent, err := c.call(args...)
	end := l.since()
	what := judge(reply, sent, err, several)
	if sent {
		l.operations.Add(1)
	}
	if what != done {
		l.failed(reply, err)
	}
	if write && what == done {
		l.acked.Add(1)
	} else if write && what == unknown {
		l.unknowns.Add(1)
	}
	return reply, what, call, end
}

// ---- unmoving keys ------------------------------------------------------------------------------

func (l *load) fillerKey(i int) (string, string) {
	name := fmt.Sprintf("filler:%d", i)
	return name, name + strings.Repeat(".", l.options.fillerBytes)
}

const fillers = 8

func (l *load) fill() {
	var wait sync.WaitGroup
	for worker := 0; worker < fillers; worker++ {
		wait.Add(1)
		go func(worker int) {
			defer wait.Done()
			c := l.connect(worker)
			defer c.close()
			for i := worker; i < l.options.filler; i += fillers {
				name, value := l.fillerKey(i)
				for tries := 0; ; tries++ {
					if _, what, _, _ := l.ask(c, true, false, "SET", name, value); what == done {
						break
					}
					if tries > 200 {
						fmt.Fprintln(os.Stderr, "the keys cannot be filled in")
						os.Exit(1)
					}
					time.Sleep(50 * time.Millisecond)
				}
			}
		}(worker)
	}
	wait.Wait()
}

// ---- the last reads -----------------------------------------------------------------------------

// readOnce asks until there is an answer; false when there is none for long.
func (l *load) readOnce(c *conn, args ...string) (interface{}, int64, int64, bool) {
	for tries := 0; tries < 50; tries++ {
		reply, what, call, end := l.ask(c, false, false, args...)
		if _, isError := reply.(errorReply); what == done && !isError || isAbsurd(reply) {
			return reply, call, end, true
		}
		time.Sleep(50 * time.Millisecond)
	}
	l.mutex.Lock()
	l.unread++
	l.mutex.Unlock()
	return nil, 0, 0, false
}

var lastRead = map[string][]string{
	"register": {"GET"}, "counter": {"GET"}, "ttl": {"GET"},
	"list": {"LRANGE", "0", "-1"}, "set": {"SMEMBERS"},
}

func (l *load) readEverything() {
	const workers = 9
	var wait sync.WaitGroup
	for worker := 0; worker < workers; worker++ {
		wait.Add(1)
		go func(worker int) {
			defer wait.Done()
			c := l.connect(worker)
			defer c.close()
			for i := worker; i < len(l.registers); i += workers {
				r := l.registers[i]
				acked, seen := r.floor()
				if reply, _, _, ok := l.readOnce(c, "GET", r.name); ok {
					l.found(r.judge(reply, acked, seen, true))
				}
			}
			for i := worker; i < l.options.filler; i += workers {
				name, value := l.fillerKey(i)
				reply, _, _, ok := l.readOnce(c, "GET", name)
				if ok && reply == nil {
					l.found(finding{lost: true, text: "lost: " + name + " is not there any more"})
				} else if ok && reply != value {
					l.found(finding{wrong: true, text: fmt.Sprintf("wrong: %s holds %v", name, reply)})
				}
			}
			for i := worker; i < len(l.ring.all); i += workers {
				l.readLast(c, worker, l.ring.all[i])
			}
		}(worker)
	}
	wait.Wait()
}

func (l *load) readLast(c *conn, worker int, h *history) {
	verb := lastRead[h.kind]
	reply, call, end, ok := l.readOnce(c, append([]string{verb[0], h.name}, verb[1:]...)...)
	if !ok {
		h.note("could not be read at the end")
		return
	}
	l.record(h, 900+worker, input{Name: verb[0], Call: call, Return: end}, reply, done)
}
