// Look-ups by XXH64 and Lamping and Veach's jump hash in Go, in the form of google-benchmark's JSON.
// Jump knows numbers of nodes only: no points, nothing to build. A ring of n nodes stands beside
// those of 100 n points.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"syscall"

	"github.com/cespare/xxhash/v2"
	jump "github.com/dgryski/go-jump"
)

const (
	fewKeys       = 4096
	manyKeys      = 1 << 20
	pointsPerNode = 100
	rounds        = 3
	lookups       = 2_000_000
)

type run struct {
	Name     string  `json:"name"`
	CPUTime  float64 `json:"cpu_time"`
	TimeUnit string  `json:"time_unit"`
}

func keys() [][]byte {
	chosen := rand.New(rand.NewSource(1))
	made := make([][]byte, manyKeys)
	for i := range made {
		made[i] = make([]byte, 16)
		for j := range made[i] {
			made[i][j] = byte('a' + chosen.Intn(16))
		}
	}
	return made
}

func owner(key []byte, nodes int) int { return int(jump.Hash(xxhash.Sum64(key), nodes)) }

var sink int

func ask(asked [][]byte, nodes int) {
	for i := 0; i < lookups; i++ {
		sink += owner(asked[i%len(asked)], nodes)
	}
}

func askDependent(asked [][]byte, nodes int) {
	last := 0
	for i := 0; i < lookups; i++ {
		last = owner(asked[(last+i)%len(asked)], nodes)
	}
	sink += last
}

// Of this process, in nanoseconds.
func processorTime() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}

func main() {
	all := keys()
	var runs []run
	record := func(what string, nodes int, body func([][]byte, int), asked [][]byte) {
		name := fmt.Sprintf("%s/Go XXH64 + jump/%d", what, nodes*pointsPerNode)
		for round := 0; round < rounds; round++ {
			start := processorTime()
			body(asked, nodes)
			each := float64(processorTime()-start) / lookups
			runs = append(runs, run{name, each, "ns"})
		}
	}
	for _, nodes := range []int{10, 100, 1000, 10000} {
		record("cached", nodes, ask, all[:fewKeys])
		record("uncached", nodes, ask, all)
		record("dependent", nodes, askDependent, all[:fewKeys])
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string][]run{"benchmarks": runs}); err != nil {
		panic(err)
	}
}
