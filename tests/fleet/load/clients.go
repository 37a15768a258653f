package main

import (
	"fmt"
	"math/rand"
	"sort"
	"strconv"
	"time"
)

const (
	clientPeriod = 8 * time.Millisecond
	writerPeriod = 15 * time.Millisecond
	// Registers of one writer: spread over the nodes, so that some of them are in every move.
	registersOfAWriter = 8
	// One in so many writes is a lie, when lies are asked for.
	lieEvery = 400
)

// record adds to a key's history what was answered.
func (l *load) record(h *history, client int, in input, reply interface{}, what outcome) {
	if what == notDone {
		return
	}
	if isAbsurd(reply) {
		h.note(fmt.Sprintf("%s was answered %v", in.Name, reply))
		return
	}
	if list, isList := reply.([]interface{}); isList && in.Name == "SMEMBERS" {
		sort.Slice(list, func(a, b int) bool { return show(list[a]) < show(list[b]) })
	}
	h.add(client, in, reply, what)
}

// client sends a mix of requests on shared keys through one router.
func (l *load) client(number int) {
	random := l.random("client", number)
	c := l.connect(number)
	defer c.close()
	for !l.stopping.Load() {
		begun := time.Now()
		if random.Intn(20) == 0 {
			l.several(c, number, random)
		} else {
			h := l.ring.take(random, time.Since(l.start))
			l.single(c, number, random, h)
		}
		pace(begun, clientPeriod)
		if c.socket == nil {
			time.Sleep(50 * time.Millisecond) // its router is gone: no need to hurry
		}
	}
}

type request struct {
	in    input
	args  []string
	write bool
}

func (l *load) single(c *conn, number int, random *rand.Rand, h *history) {
	r := l.choose(random, h)
	if l.options.lie && r.in.Name == "SET" && random.Intn(lieEvery) == 0 {
		r.in.Call = l.since()
		r.in.Return = r.in.Call + 1
		l.record(h, number, r.in, "OK", done)
		return
	}
	reply, what, call, end := l.ask(c, r.write, false, r.args...)
	if what == unknown && !r.write && !isAbsurd(reply) {
		return // a read without an answer says nothing
	}
	r.in.Call, r.in.Return = call, end
	l.record(h, number, r.in, reply, what)
}

func (l *load) unique() string { return "v" + strconv.FormatInt(l.value.Add(1), 10) }

// choose makes up a request for a key of its kind.
func (l *load) choose(random *rand.Rand, h *history) request {
	value := l.unique()
	dice := random.Intn(100)
	of := func(write bool, name string, rest ...string) request {
		in := input{Name: name}
		return request{in: in, args: append([]string{name, h.name}, rest...), write: write}
	}
	with := func(r request, value string, number int64) request {
		r.in.Value, r.in.Number = value, number
		return r
	}
	switch h.kind {
	case "register":
		switch {
		case dice < 40:
			return of(false, "GET")
		case dice < 70:
			return with(of(true, "SET", value), value, 0)
		case dice < 78:
			return of(true, "DEL")
		case dice < 86:
			return with(of(true, "SETNX", value), value, 0)
		case dice < 95:
			return with(of(true, "GETSET", value), value, 0)
		}
		return of(true, "GETDEL")
	case "counter":
		switch {
		case dice < 35:
			return of(false, "GET")
		case dice < 65:
			return of(true, "INCR")
		case dice < 80:
			return of(true, "DECR")
		case dice < 97:
			step := int64(random.Intn(1000) + 2)
			return with(of(true, "INCRBY", strconv.FormatInt(step, 10)), "", step)
		}
		return of(true, "DEL")
	case "list":
		switch {
		case dice < 40:
			return with(of(true, "RPUSH", value), value, 0)
		case dice < 70:
			return of(true, "LPOP")
		case dice < 90:
			return of(false, "LRANGE", "0", "-1")
		}
		return of(false, "LLEN")
	case "set":
		member := "m" + strconv.Itoa(random.Intn(6))
		switch {
		case dice < 35:
			return with(of(true, "SADD", member), member, 0)
		case dice < 60:
			return with(of(true, "SREM", member), member, 0)
		case dice < 80:
			return with(of(false, "SISMEMBER", member), member, 0)
		}
		return of(false, "SMEMBERS")
	}
	span := int64(100 + random.Intn(1500))
	switch { // ttl
	case dice < 45:
		return of(false, "GET")
	case dice < 60:
		return of(false, "PTTL")
	case dice < 85:
		r := of(true, "SET", value, "PX", strconv.FormatInt(span, 10))
		r.in.Name = "SETPX"
		return with(r, value, span)
	case dice < 92:
		return with(of(true, "PEXPIRE", strconv.FormatInt(span, 10)), "", span)
	}
	return with(of(true, "SET", value), value, 0)
}

// several sends MSET or MGET; each of its keys is judged alone, for they are on several nodes.
func (l *load) several(c *conn, number int, random *rand.Rand) {
	keys := l.ring.takeRegisters(random, 3)
	write := random.Intn(2) == 0
	args := []string{"MGET"}
	if write {
		args = []string{"MSET"}
	}
	inputs := make([]input, len(keys))
	for i, h := range keys {
		args = append(args, h.name)
		inputs[i].Name = "GET"
		if write {
			inputs[i] = input{Name: "SET", Value: l.unique()}
			args = append(args, inputs[i].Value)
		}
	}
	reply, what, call, end := l.ask(c, write, true, args...)
	replies, isList := reply.([]interface{})
	if what == unknown && !write || what == done && !write && !isList {
		return
	}
	for i, h := range keys {
		inputs[i].Call, inputs[i].Return = call, end
		each := reply
		if isList {
			each = replies[i]
		}
		if _, isError := each.(errorReply); isError && !write {
			continue
		}
		l.record(h, number, inputs[i], each, what)
	}
}

// ---- registers of one writer --------------------------------------------------------------------

// A writer's place on the ring: its registers follow each other there, by their hash tag, so that
// the outage of a place can be measured.
type place struct {
	tag        string
	generation int
	register   *register
	failing    *outage
}

func (l *load) renewRegister(p *place) {
	p.generation++
	p.register = newRegister(fmt.Sprintf("single:{%s}:%d", p.tag, p.generation))
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.registers = append(l.registers, p.register)
}

// writer writes and reads its registers in turn. One that cannot be written is tried until it can.
func (l *load) writer(number int) {
	random := l.random("writer", number)
	c := l.connect(number)
	defer c.close()
	mine := make([]*place, registersOfAWriter)
	for i := range mine {
		mine[i] = &place{tag: fmt.Sprintf("w%d-%d", number, i)}
		l.renewRegister(mine[i])
	}
	for turn := 0; !l.stopping.Load(); {
		begun := time.Now()
		p := mine[turn%len(mine)]
		if p.failing == nil && random.Intn(3) == 0 {
			l.readRegister(c, p.register)
		} else {
			l.writeRegister(c, number, random, p)
		}
		if p.failing == nil {
			turn++
		}
		pace(begun, writerPeriod)
	}
	for _, p := range mine {
		if p.failing != nil {
			p.failing.Open = true
			l.endOutage(p, l.since())
		}
	}
}

func (l *load) writeRegister(c *conn, number int, random *rand.Rand, p *place) {
	value := p.register.next()
	if l.options.lie && random.Intn(lieEvery) == 0 {
		p.register.wrote(value, done)
		return
	}
	reply, what, call, end := l.ask(c, true, false, "SET", p.register.name,
		strconv.FormatInt(value, 10))
	p.register.wrote(value, what)
	if p.failing == nil {
		p.failing = &outage{Router: number % len(l.options.routers), Key: p.register.name,
			StartMs: l.wallMs(call)}
		if what == done {
			p.failing.Why = "slow"
		} else if text, isError := reply.(errorReply); isError {
			p.failing.Why = string(text)
		} else {
			p.failing.Why = "connection"
		}
	}
	if what == done {
		l.endOutage(p, end)
	}
	if what == unknown {
		l.renewRegister(p)
	}
}

func (l *load) endOutage(p *place, end int64) {
	p.failing.EndMs = l.wallMs(end)
	if p.failing.EndMs-p.failing.StartMs >= float64(outageMin/time.Millisecond) {
		l.mutex.Lock()
		l.outages = append(l.outages, *p.failing)
		l.mutex.Unlock()
	}
	p.failing = nil
}

func (l *load) readRegister(c *conn, r *register) {
	acked, seen := r.floor()
	reply, what, _, _ := l.ask(c, false, false, "GET", r.name)
	if what == done || isAbsurd(reply) {
		l.found(r.judge(reply, acked, seen, false))
	}
}

// reader reads the registers of all writers through one router.
func (l *load) reader(number int) {
	random := l.random("reader", number)
	c := l.connect(number)
	defer c.close()
	for !l.stopping.Load() {
		begun := time.Now()
		l.mutex.Lock()
		var r *register
		if len(l.registers) > 0 {
			r = l.registers[random.Intn(len(l.registers))]
		}
		l.mutex.Unlock()
		if r != nil {
			l.readRegister(c, r)
		}
		pace(begun, writerPeriod)
	}
}
