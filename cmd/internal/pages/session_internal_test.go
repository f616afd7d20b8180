package pages

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

func person(name string) *access.Principal {
	return &access.Principal{ID: "token|" + name, Name: name, Provider: "token"}
}

// TestSessionEnds: after an hour, or with the credential that it was begun with.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSessions()
		long := s.add(person("alice"), true, time.Now())
		brief := person("alice")
		brief.Expires = time.Now().Add(time.Minute)
		short := s.add(brief, true, time.Now())
		there := func(want ...bool) {
			t.Helper()
			for i, one := range []*session{long, short} {
				if (s.find(one.secret, time.Now()) == one) != want[i] {
					t.Errorf("session %d: %v", i, !want[i])
				}
			}
		}
		there(true, true)
		time.Sleep(time.Minute)
		there(true, false)
		time.Sleep(time.Hour - time.Minute - time.Nanosecond)
		there(true, false)
		time.Sleep(time.Nanosecond)
		there(false, false)
		s.add(person("bob"), true, time.Now())
		if len(s.all) != 1 {
			t.Errorf("%d sessions are kept", len(s.all))
		}
	})
}

// TestSessionBounds: one person has a few, and all have many; the oldest goes.
func TestSessionBounds(t *testing.T) {
	t.Parallel()
	s, now := newSessions(), time.Now()
	first := s.add(person("bob"), true, now)
	var own []*session
	for i := range maxOwn + 1 {
		own = append(own, s.add(person("alice"), true, now.Add(time.Duration(i+1)*time.Second)))
	}
	for i, one := range own {
		if (s.find(one.secret, now) == one) != (i > 0) {
			t.Errorf("alice's session %d", i)
		}
	}
	if s.find(first.secret, now) != first {
		t.Error("alice has ended bob's")
	}
	for i := len(s.all); i < maxSessions; i++ { // as add does, without looking for room
		one := &session{principal: person(strconv.Itoa(i)), secret: strconv.Itoa(i), ends: now.Add(2 * sessionTime)}
		s.all[keyOf(one.secret)] = one
	}
	s.add(person("carol"), true, now.Add(time.Minute))
	if len(s.all) != maxSessions || s.find(first.secret, now) != nil {
		t.Errorf("%d sessions, the first among them: %v", len(s.all), s.find(first.secret, now) != nil)
	}
}

// TestSessionLinking: a session waits for a few answers, and takes each once.
func TestSessionLinking(t *testing.T) {
	t.Parallel()
	one := &session{}
	for i := range maxLinking + 1 {
		one.expect("gh", strconv.Itoa(i))
	}
	if one.take("gh", "0") || one.take("notes", "1") || !one.take("gh", "1") || one.take("gh", "1") || len(one.linking) != maxLinking-1 {
		t.Errorf("waits for %v", one.linking)
	}
}
