package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A client of our own, because a history is only worth something when it is certain that a request
// was sent exactly once: nothing here retries, and nothing is pooled.

// A reply is nil, int64, string, []interface{} or errorReply.
type errorReply string

const (
	dialTimeout = time.Second
	// Above the two seconds after which a router gives a request up, so that its words are heard.
	callTimeout = 3 * time.Second
)

// One connection to one router; it is opened again by the first call after a break.
type conn struct {
	address string
	socket  net.Conn
	reader  *bufio.Reader
}

func (c *conn) close() {
	if c.socket != nil {
		c.socket.Close()
		c.socket = nil
	}
}

// call sends one request and reads its reply. With an error, `sent` tells whether a byte of it may
// have left.
func (c *conn) call(args ...string) (reply interface{}, sent bool, err error) {
	if c.socket == nil {
		c.socket, err = net.DialTimeout("tcp", c.address, dialTimeout)
		if err != nil {
			c.socket = nil
			return nil, false, err
		}
		c.reader = bufio.NewReader(c.socket)
	}
	c.socket.SetDeadline(time.Now().Add(callTimeout))
	if _, err = io.WriteString(c.socket, encode(args)); err == nil {
		reply, err = readReply(c.reader)
	}
	if err != nil {
		// A reply that comes late would be taken for the next request's.
		c.close()
		return nil, true, err
	}
	return reply, true, nil
}

func encode(args []string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(&out, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return out.String()
}

func readReply(reader *bufio.Reader) (interface{}, error) {
	line, err := reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("not RESP2: %q", line)
	}
	kind, rest := line[0], line[1:len(line)-2]
	if kind == '+' {
		return rest, nil
	}
	if kind == '-' {
		return errorReply(rest), nil
	}
	number, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("not RESP2: %q", line)
	}
	switch {
	case kind == ':':
		return number, nil
	case kind != '$' && kind != '*':
		return nil, fmt.Errorf("not RESP2: %q", line)
	case number < 0:
		return nil, nil
	case kind == '$':
		body := make([]byte, number+2)
		if _, err := io.ReadFull(reader, body); err != nil {
			return nil, err
		}
		return string(body[:number]), nil
	}
	list := make([]interface{}, number)
	for i := range list {
		if list[i], err = readReply(reader); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// What is known about a request after its call.
type outcome int

const (
	done    outcome = iota // answered
	notDone                // certainly without any effect, now and later
	unknown                // may have happened, or may still happen
)

// judge errs towards unknown: "not done" takes a text that promises it, and that for the whole
// request, so never for one that is split over several nodes.
func judge(reply interface{}, sent bool, err error, severalKeys bool) outcome {
	if err != nil {
		if !sent {
			return notDone
		}
		return unknown
	}
	text, isError := reply.(errorReply)
	if !isError {
		return done
	}
	if severalKeys {
		return unknown
	}
	for _, promise := range []string{"the command was not sent", "cleave: not executed"} {
		if strings.Contains(string(text), promise) {
			return notDone
		}
	}
	// Redis says this before it looks at the command.
	if strings.HasPrefix(string(text), "LOADING ") {
		return notDone
	}
	return unknown
}

// Errors that no fault explains: a key holds what nobody wrote there.
func isAbsurd(reply interface{}) bool {
	text, isError := reply.(errorReply)
	return isError && (strings.HasPrefix(string(text), "WRONGTYPE") ||
		strings.Contains(string(text), "not an integer"))
}

// The kind of a failure for the summary: without what differs from case to case.
func failureKind(reply interface{}, err error) string {
	if text, isError := reply.(errorReply); isError {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, string(text))
	}
	var netError net.Error
	switch {
	case errors.As(err, &netError) && netError.Timeout():
		return "client: timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "client: the connection was closed"
	case strings.Contains(err.Error(), "refused"):
		return "client: connection refused"
	case strings.Contains(err.Error(), "reset"):
		return "client: connection reset"
	}
	return "client: " + err.Error()
}
