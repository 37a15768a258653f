package main

import (
	"fmt"
	"strconv"
	"sync"
)

// A register that one client writes, with values that only grow: that can be judged at each read,
// over any length of time, and tells loss from disorder.
type register struct {
	name string

	mutex     sync.Mutex
	attempted int64          // the last value that was sent
	acked     int64          // the last one that was acknowledged
	seen      int64          // the greatest that was read: it was there, so nothing older may follow
	refused   map[int64]bool // values that were said to be without effect
}

func newRegister(name string) *register {
	return &register{name: name, refused: map[int64]bool{}}
}

// next is the value to write now. After a write of unknown outcome there must be no other: it might
// come late and rightly hide the newer one. So the writer then takes a new register.
func (r *register) next() int64 {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.attempted++
	return r.attempted
}

func (r *register) wrote(value int64, what outcome) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if what == done {
		r.acked = value
	} else if what == notDone {
		r.refused[value] = true
	}
}

// floor is taken before a read is sent: what it answers must not be older.
func (r *register) floor() (acked, seen int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.acked, r.seen
}

type finding struct {
	lost, wrong bool
	text        string
}

// judge compares what a read answered with the floor from before it.
func (r *register) judge(reply interface{}, acked, seen int64, final bool) finding {
	value := int64(0)
	if text, isText := reply.(string); isText {
		var err error
		if value, err = strconv.ParseInt(text, 10, 64); err != nil {
			return finding{wrong: true, text: fmt.Sprintf("%s holds %q", r.name, text)}
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	text := fmt.Sprintf("%s: read %d; acknowledged before %d, read before %d, sent %d, refused: %t",
		r.name, value, acked, seen, r.attempted, r.refused[value])
	switch {
	case value < acked && final:
		return finding{lost: true, text: "lost: " + text}
	case value < acked || value < seen || value > r.attempted || r.refused[value]:
		return finding{wrong: true, text: "wrong: " + text}
	}
	if value > r.seen {
		r.seen = value
	}
	return finding{}
}
