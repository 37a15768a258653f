package main

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"
)

// One operation of a hand-made history; times in milliseconds.
type op struct {
	call, end int64
	name      string
	value     string
	number    int64
	reply     string
}

// An end of 0: the outcome is unknown.
func historyOf(kind string, ops []op) *history {
	h := &history{name: "test", kind: kind}
	for i, o := range ops {
		in := input{Name: o.name, Value: o.value, Number: o.number, Call: o.call * 1e6,
			Return: o.end * 1e6}
		what := done
		if o.end == 0 {
			what = unknown
		}
		h.add(i, in, o.reply, what)
	}
	return h
}

func TestHistories(t *testing.T) {
	cases := []struct {
		what, kind string
		good       bool
		ops        []op
	}{
		{"reads what was written", "register", true, []op{
			{0, 1, "SET", "a", 0, "OK"}, {2, 3, "GET", "", 0, "a"}}},
		{"an acknowledged write is lost", "register", false, []op{
			{0, 1, "SET", "a", 0, "OK"}, {2, 3, "GET", "", 0, absent}}},
		{"an old value comes back", "register", false, []op{
			{0, 1, "SET", "a", 0, "OK"}, {2, 3, "SET", "b", 0, "OK"}, {4, 5, "GET", "", 0, "b"},
			{6, 7, "GET", "", 0, "a"}}},
		{"writes that overlap take any order", "register", true, []op{
			{0, 9, "SET", "a", 0, "OK"}, {1, 8, "SET", "b", 0, "OK"}, {10, 11, "GET", "", 0, "a"}}},
		{"but one order for all readers", "register", false, []op{
			{0, 9, "SET", "a", 0, "OK"}, {1, 8, "SET", "b", 0, "OK"}, {10, 11, "GET", "", 0, "a"},
			{12, 13, "GET", "", 0, "b"}}},
		{"a write of unknown outcome comes late", "register", true, []op{
			{0, 0, "SET", "a", 0, ""}, {1, 2, "SET", "b", 0, "OK"}, {3, 4, "GET", "", 0, "b"},
			{5, 6, "GET", "", 0, "a"}}},
		{"or never", "register", true, []op{
			{0, 0, "SET", "a", 0, ""}, {1, 2, "GET", "", 0, absent}}},
		{"but only once", "register", false, []op{
			{0, 0, "SET", "a", 0, ""}, {1, 2, "GET", "", 0, "a"}, {3, 4, "SET", "b", 0, "OK"},
			{5, 6, "GET", "", 0, "a"}}},
		{"a value that nobody wrote", "register", false, []op{{0, 1, "GET", "", 0, "x"}}},
		{"SETNX of a key that is there", "register", false, []op{
			{0, 1, "SET", "a", 0, "OK"}, {2, 3, "SETNX", "b", 0, "1"}}},
		{"GETSET and GETDEL", "register", true, []op{
			{0, 1, "GETSET", "a", 0, absent}, {2, 3, "GETDEL", "", 0, "a"},
			{4, 5, "SETNX", "b", 0, "1"}, {6, 7, "DEL", "", 0, "1"}, {8, 9, "DEL", "", 0, "0"}}},
		{"a deleted key comes back", "register", false, []op{
			{0, 1, "SET", "a", 0, "OK"}, {2, 3, "DEL", "", 0, "1"}, {4, 5, "GET", "", 0, "a"}}},

		{"counts", "counter", true, []op{
			{0, 1, "INCR", "", 0, "1"}, {2, 3, "INCRBY", "", 10, "11"}, {4, 5, "DECR", "", 0, "10"},
			{6, 7, "GET", "", 0, "10"}}},
		{"counts twice", "counter", false, []op{
			{0, 1, "INCR", "", 0, "1"}, {2, 3, "INCR", "", 0, "3"}}},
		{"two get the same number", "counter", false, []op{
			{0, 5, "INCR", "", 0, "1"}, {1, 6, "INCR", "", 0, "1"}}},
		{"an unknown increment explains a gap", "counter", true, []op{
			{0, 0, "INCR", "", 0, ""}, {2, 3, "INCR", "", 0, "2"}, {4, 5, "GET", "", 0, "2"}}},
		{"an unknown increment counts once", "counter", false, []op{
			{0, 0, "INCR", "", 0, ""}, {2, 3, "INCR", "", 0, "3"}}},

		{"first in, first out", "list", true, []op{
			{0, 1, "RPUSH", "a", 0, "1"}, {2, 3, "RPUSH", "b", 0, "2"}, {4, 5, "LPOP", "", 0, "a"},
			{6, 7, "LRANGE", "", 0, "b"}, {8, 9, "LLEN", "", 0, "1"}, {10, 11, "LPOP", "", 0, "b"},
			{12, 13, "LPOP", "", 0, absent}, {14, 15, "LRANGE", "", 0, ""}}},
		{"an element is handed out twice", "list", false, []op{
			{0, 1, "RPUSH", "a", 0, "1"}, {2, 3, "LPOP", "", 0, "a"}, {4, 5, "LPOP", "", 0, "a"}}},
		{"an element is lost", "list", false, []op{
			{0, 1, "RPUSH", "a", 0, "1"}, {2, 3, "RPUSH", "b", 0, "2"},
			{4, 5, "LRANGE", "", 0, "a"}}},

		{"members", "set", true, []op{
			{0, 1, "SADD", "b", 0, "1"}, {2, 3, "SADD", "a", 0, "1"}, {4, 5, "SADD", "a", 0, "0"},
			{6, 7, "SMEMBERS", "", 0, "a,b"}, {8, 9, "SREM", "b", 0, "1"},
			{10, 11, "SISMEMBER", "b", 0, "0"}, {12, 13, "SMEMBERS", "", 0, "a"}}},
		{"a removed member comes back", "set", false, []op{
			{0, 1, "SADD", "a", 0, "1"}, {2, 3, "SREM", "a", 0, "1"},
			{4, 5, "SISMEMBER", "a", 0, "1"}}},

		{"expires", "ttl", true, []op{
			{0, 1, "SETPX", "a", 500, "OK"}, {100, 101, "GET", "", 0, "a"},
			{102, 103, "PTTL", "", 0, "398"}, {700, 701, "GET", "", 0, absent}}},
		{"expires too early", "ttl", false, []op{
			{0, 1, "SETPX", "a", 500, "OK"}, {100, 101, "GET", "", 0, absent}}},
		{"outlives its time", "ttl", false, []op{
			{0, 1, "SETPX", "a", 500, "OK"}, {700, 701, "GET", "", 0, "a"}}},
		{"loses its TTL", "ttl", false, []op{
			{0, 1, "SETPX", "a", 500, "OK"}, {100, 101, "PTTL", "", 0, "-1"}}},
		{"gets a TTL from nowhere", "ttl", false, []op{
			{0, 1, "SET", "a", 0, "OK"}, {100, 101, "PTTL", "", 0, "300"}}},
		{"a value without TTL is lost", "ttl", false, []op{
			{0, 1, "SET", "a", 0, "OK"}, {900, 901, "GET", "", 0, absent}}},
		{"has another TTL than it was given", "ttl", false, []op{
			{0, 1, "SETPX", "a", 500, "OK"}, {100, 101, "PTTL", "", 0, "900"}}},
		{"gets more time", "ttl", true, []op{
			{0, 1, "SETPX", "a", 500, "OK"}, {300, 301, "PEXPIRE", "", 900, "1"},
			{900, 901, "GET", "", 0, "a"}, {1400, 1401, "PEXPIRE", "", 900, "0"}}},
		{"a slow SET makes its end uncertain", "ttl", true, []op{
			{0, 1000, "SETPX", "a", 500, "OK"}, {1200, 1201, "GET", "", 0, "a"}}},
		{"an unknown SET leaves its end open", "ttl", true, []op{
			{0, 0, "SETPX", "a", 500, ""}, {5000, 5001, "GET", "", 0, "a"}}},
	}
	for _, c := range cases {
		verdict := historyOf(c.kind, c.ops).check()
		wanted := porcupine.Illegal
		if c.good {
			wanted = porcupine.Ok
		}
		if verdict != wanted {
			t.Errorf("%s, %s: %s, want %s", c.kind, c.what, verdict, wanted)
		}
	}
}

func TestRegisterOfOneWriter(t *testing.T) {
	fresh := func() *register {
		r := newRegister("r")
		r.wrote(r.next(), done)    // 1
		r.wrote(r.next(), done)    // 2
		r.wrote(r.next(), notDone) // 3
		r.wrote(r.next(), unknown) // 4
		return r
	}
	cases := []struct {
		what        string
		reply       interface{}
		seen        int64
		final       bool
		lost, wrong bool
	}{
		{"the acknowledged value", "2", 0, false, false, false},
		{"the unknown value", "4", 0, false, false, false},
		{"an older value", "1", 0, false, false, true},
		{"an older value at the end", "1", 0, true, true, false},
		{"nothing at the end", nil, 0, true, true, false},
		{"a refused value", "3", 0, false, false, true},
		{"a value never sent", "5", 0, true, false, true},
		{"an unknown value that was seen and is gone", "2", 4, true, false, true},
		{"nonsense", "x", 0, false, false, true},
	}
	for _, c := range cases {
		found := fresh().judge(c.reply, 2, c.seen, c.final)
		if found.lost != c.lost || found.wrong != c.wrong {
			t.Errorf("%s: lost %t, wrong %t (%s)", c.what, found.lost, found.wrong, found.text)
		}
	}
}

func TestJudgeOfReplies(t *testing.T) {
	broken := errors.New("broken")
	cases := []struct {
		reply   interface{}
		sent    bool
		err     error
		several bool
		want    outcome
	}{
		{"OK", true, nil, false, done},
		{nil, true, nil, false, done},
		{nil, false, broken, false, notDone},
		{nil, true, broken, false, unknown},
		{errorReply("ERR cleave: b is down: x; the command was not sent"), true, nil, false, notDone},
		{errorReply("ERR cleave: b is down: x; the command was not sent"), true, nil, true, unknown},
		{errorReply("ERR cleave: not executed: its range is on the move"), true, nil, false, notDone},
		{errorReply("LOADING Redis is loading"), true, nil, false, notDone},
		{errorReply("ERR cleave: the outcome of this write is unknown"), true, nil, false, unknown},
		{errorReply("ERR something else"), true, nil, false, unknown},
	}
	for _, c := range cases {
		if got := judge(c.reply, c.sent, c.err, c.several); got != c.want {
			t.Errorf("%v %v: %d, want %d", c.reply, c.err, got, c.want)
		}
	}
}

// A key with as many operations of unknown outcome as it may have is still judged in time.
func TestManyUnknownOperationsAreDecided(t *testing.T) {
	var ops []op
	for i := int64(0); i < unknownsOfKey+12; i++ {
		ops = append(ops, op{i, 0, "INCR", "", 0, ""})
	}
	for i := int64(0); i < opsOfAKey; i++ {
		ops = append(ops, op{100 + 2*i, 101 + 2*i, "GET", "", 0, "3"})
	}
	if verdict := historyOf("counter", ops).check(); verdict != porcupine.Ok {
		t.Errorf("judged %s", verdict)
	}
}
