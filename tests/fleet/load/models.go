package main

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// A request on one key, as its model sees it. Of an operation of unknown outcome nobody knows the
// reply and it may still happen, so its Return is `forever`; that it never happened is covered too:
// then it stands last, where nobody looks.
type input struct {
	Name    string // the command
	Value   string
	Number  int64 // of INCRBY, PX, PEXPIRE
	Unknown bool
	Call    int64 // nanoseconds, as in the operation; the TTL model needs them
	Return  int64
}

const forever = math.MaxInt64

// Replies are compared as texts (show). Absent is no value that a request writes.
const absent = "(absent)"

func show(reply interface{}) string {
	switch value := reply.(type) {
	case nil:
		return absent
	case int64:
		return strconv.FormatInt(value, 10)
	case string:
		return value
	case []interface{}:
		parts := make([]string, len(value))
		for i := range value {
			parts[i] = show(value[i])
		}
		return strings.Join(parts, ",")
	}
	return "(error)"
}

// What a command does to a state: its reply and the state after it.
type effect func(state string, in input) (reply string, next string)

// modelOf makes a model of an effect on states that are texts.
func modelOf(apply effect) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return absent },
		Step: func(state, in, out interface{}) (bool, interface{}) {
			request := in.(input)
			reply, next := apply(state.(string), request)
			return request.Unknown || reply == out.(string), next
		},
		Equal: func(a, b interface{}) bool { return a == b },
	}
}

func count(isOne bool) string {
	if isOne {
		return "1"
	}
	return "0"
}

func applyRegister(state string, in input) (string, string) {
	switch in.Name {
	case "SET":
		return "OK", in.Value
	case "GET":
		return state, state
	case "DEL":
		return count(state != absent), absent
	case "SETNX":
		if state == absent {
			return "1", in.Value
		}
		return "0", state
	case "GETSET":
		return state, in.Value
	case "GETDEL":
		return state, absent
	}
	panic("register: " + in.Name)
}

func applyCounter(state string, in input) (string, string) {
	number := int64(0)
	if state != absent {
		number, _ = strconv.ParseInt(state, 10, 64)
	}
	switch in.Name {
	case "INCRBY":
		sum := strconv.FormatInt(number+in.Number, 10)
		return sum, sum
	case "INCR":
		sum := strconv.FormatInt(number+1, 10)
		return sum, sum
	case "DECR":
		sum := strconv.FormatInt(number-1, 10)
		return sum, sum
	case "GET":
		return state, state
	case "DEL":
		return count(state != absent), absent
	}
	panic("counter: " + in.Name)
}

// An empty list and an empty set are absent keys.
func members(state string) []string {
	if state == absent {
		return nil
	}
	return strings.Split(state, ",")
}

func joined(list []string) string {
	if len(list) == 0 {
		return absent
	}
	return strings.Join(list, ",")
}

func applyList(state string, in input) (string, string) {
	list := members(state)
	switch in.Name {
	case "RPUSH":
		return strconv.Itoa(len(list) + 1), joined(append(list, in.Value))
	case "LPOP":
		if len(list) == 0 {
			return absent, absent
		}
		return list[0], joined(list[1:])
	case "LRANGE":
		return strings.Join(list, ","), state
	case "LLEN":
		return strconv.Itoa(len(list)), state
	}
	panic("list: " + in.Name)
}

func applySet(state string, in input) (string, string) {
	list := members(state)
	at := sort.SearchStrings(list, in.Value)
	has := at < len(list) && list[at] == in.Value
	switch in.Name {
	case "SADD":
		if has {
			return "0", state
		}
		next := append(append(append([]string{}, list[:at]...), in.Value), list[at:]...)
		return "1", joined(next)
	case "SREM":
		if !has {
			return "0", state
		}
		return "1", joined(append(append([]string{}, list[:at]...), list[at+1:]...))
	case "SISMEMBER":
		return count(has), state
	case "SMEMBERS": // its reply was sorted before it came here
		return strings.Join(list, ","), state
	}
	panic("set: " + in.Name)
}

// A value and when it goes. Nobody knows at which moment between call and return a server set the
// time, so the end is an interval; `forever` on both sides is a value without a TTL.
type mortal struct {
	Value string
	First int64 // it may be gone from here on
	Last  int64 // it is gone from here on
}

// The clocks of two servers may differ by 50 ms before a move is refused; the rest is rounding.
const ttlSlack = int64(60e6)

func laterBy(at int64, milliseconds int64) int64 {
	if at == forever {
		return forever
	}
	return at + milliseconds*1e6
}

func stepMortal(state mortal, in input, out string) (bool, mortal) {
	gone := mortal{Value: absent, First: forever, Last: forever}
	mayBeGone := state.Value == absent || state.First-ttlSlack <= in.Return
	mayBeThere := state.Value != absent && (state.Last == forever || in.Call <= state.Last+ttlSlack)
	switch in.Name {
	case "SET":
		return in.Unknown || out == "OK", mortal{in.Value, forever, forever}
	case "SETPX":
		next := mortal{in.Value, laterBy(in.Call, in.Number), laterBy(in.Return, in.Number)}
		return in.Unknown || out == "OK", next
	case "GET":
		if out == absent {
			return mayBeGone, gone
		}
		return mayBeThere && out == state.Value, state
	case "PEXPIRE":
		return stepExpire(state, in, out, mayBeGone, mayBeThere)
	case "PTTL":
		left, _ := strconv.ParseInt(out, 10, 64)
		switch {
		case left == -2:
			return mayBeGone, gone
		case left == -1:
			return mayBeThere && state.Last == forever && state.First == forever, state
		case !mayBeThere || state.First == forever:
			return false, state
		}
		low := laterBy(in.Call, left) - ttlSlack
		high := laterBy(in.Return, left) + ttlSlack
		return state.First <= high && (state.Last == forever || low <= state.Last), state
	}
	panic("ttl: " + in.Name)
}

func stepExpire(state mortal, in input, out string, mayBeGone, mayBeThere bool) (bool, mortal) {
	next := mortal{state.Value, laterBy(in.Call, in.Number), laterBy(in.Return, in.Number)}
	if in.Unknown {
		// It may have found the value gone, or have given it more time, or less.
		if state.Value == absent {
			return true, state
		}
		if state.First < next.First {
			next.First = state.First
		}
		next.Last = forever
		return true, next
	}
	if out == "0" {
		return mayBeGone, mortal{Value: absent, First: forever, Last: forever}
	}
	return mayBeThere && out == "1", next
}

var mortalModel = porcupine.Model{
	Init: func() interface{} { return mortal{Value: absent, First: forever, Last: forever} },
	Step: func(state, in, out interface{}) (bool, interface{}) {
		return step2(stepMortal(state.(mortal), in.(input), out.(string)))
	},
	Equal: func(a, b interface{}) bool { return a == b },
}

func step2(ok bool, state mortal) (bool, interface{}) { return ok, state }

var models = map[string]porcupine.Model{
	"register": modelOf(applyRegister),
	"counter":  modelOf(applyCounter),
	"list":     modelOf(applyList),
	"set":      modelOf(applySet),
	"ttl":      mortalModel,
}
