package verify_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/verify"
	"github.com/mcpctl/mcpctl/test/require"
)

const (
	inSegment = 40
	every     = math.MaxInt
)

// mutatedRecords is how many records the log has that is changed.
func mutatedRecords() int {
	if *whole {
		return 10_000
	}
	return 1200
}

// mutants changes a log's file and puts it back, again and again.
type mutants struct {
	t    *testing.T
	path string
	key  string
	db   *sql.DB
}

// mutated returns a log of its own.
func mutated(t *testing.T) *mutants {
	t.Helper()
	w := begin(t)
	w.grow(mutatedRecords(), inSegment, 10)
	w.checkpoint()
	w.close()
	m := mutantsOf(t, w.path, w.key.Verifier())
	if r := m.verify(); len(r.Findings) != 0 || r.Size != int64(mutatedRecords()) || r.Signed != r.Size {
		t.Fatalf("before any change: %+v", r)
	}
	return m
}

func mutantsOf(t *testing.T, path, key string) *mutants {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(off)")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return &mutants{t: t, path: path, key: key, db: db}
}

// copy returns a copy of the log.
func (m *mutants) copy() *mutants {
	m.t.Helper()
	path := filepath.Join(m.t.TempDir(), "audit.db")
	m.exec("VACUUM INTO ?", path)
	return mutantsOf(m.t, path, m.key)
}

func (m *mutants) verify(since ...[]byte) *verify.Report {
	m.t.Helper()
	return verifyFile(m.t, m.path, verify.Options{Keys: []string{m.key}, Since: since, Most: 2 * mutatedRecords()})
}

func (m *mutants) exec(statement string, args ...any) {
	m.t.Helper()
	_, err := m.db.ExecContext(context.Background(), statement, args...)
	require.NoError(m.t, err)
}

// segment returns the records of the segment that begins with a record.
func (m *mutants) segment(first int) [][]byte {
	m.t.Helper()
	var text []byte
	require.NoError(m.t, m.db.QueryRowContext(context.Background(), "SELECT records FROM segment WHERE first = ?", first).Scan(&text))
	return bytes.SplitAfter(text, []byte("\n"))[:bytes.Count(text, []byte("\n"))]
}

// set replaces the records of a segment, and the count if that is wanted.
func (m *mutants) set(first int, list [][]byte, count bool) {
	m.t.Helper()
	m.exec("UPDATE segment SET records = ? WHERE first = ?", bytes.Join(list, nil), first)
	if count {
		m.exec("UPDATE segment SET count = ? WHERE first = ?", len(list), first)
	}
}

// named reports whether a finding of one of the kinds is about a record.
func named(r *verify.Report, n int, kinds ...verify.Kind) bool {
	return slices.ContainsFunc(r.Findings, func(f verify.Finding) bool {
		return slices.Contains(kinds, f.Kind) && f.First <= int64(n) && int64(n) <= f.Last
	})
}

// sample returns some numbers below n; all of them in the whole test, or as many as that
// has time for.
func sample(n, some, all int) []int {
	if *whole {
		some = all
	}
	return rand.Perm(n)[:min(n, some)]
}

// TestChangedByte: each byte of each record. One in four records is changed at a time, always
// the byte of one place, and all are named, and no other.
func TestChangedByte(t *testing.T) {
	m := mutated(t)
	longest := 0
	for first := 0; first < mutatedRecords(); first += inSegment {
		for _, r := range m.segment(first) {
			longest = max(longest, len(r)-1)
		}
	}
	for _, at := range sample(longest, 3, every) {
		for _, shift := range sample(4, 1, every) {
			var want []int
			old := map[int][][]byte{}
			m.exec("BEGIN")
			for first := 0; first < mutatedRecords(); first += inSegment {
				list := m.segment(first)
				old[first] = slices.Clone(list)
				for i := shift; i < len(list); i += 4 {
					if at < len(list[i])-1 {
						list[i] = bytes.Clone(list[i])
						list[i][at] ^= 1 << (at % 7)
						if list[i][at] == '\n' {
							list[i][at] = '?'
						}
						want = append(want, first+i)
					}
				}
				m.set(first, list, false)
			}
			m.exec("COMMIT")
			r := m.verify()
			var got []int
			for _, f := range r.Findings {
				if f.Kind == verify.Changed {
					for n := f.First; n <= f.Last; n++ {
						got = append(got, int(n))
					}
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("byte %d of each fourth record from %d on was changed: %d are named, want %d; %v", at, shift, len(got), len(want), r.Findings[:min(3, len(r.Findings))])
			}
			m.exec("BEGIN")
			for first, list := range old {
				m.set(first, list, false)
			}
			m.exec("COMMIT")
		}
	}
}

// TestOtherRecords: each deletion, swap and duplication, in several ways; at one place of
// each tenth segment at a time.
func TestOtherRecords(t *testing.T) {
	m := mutated(t)
	segments := mutatedRecords() / inSegment
	for _, pick := range sample(10*inSegment, 3, every) {
		var firsts []int
		for s := pick % 10; s < segments; s += 10 {
			firsts = append(firsts, s*inSegment)
		}
		i := pick / 10
		other := (i + 1 + pick%(inSegment-1)) % inSegment
		next := pick%9 + 1 // segments further on
		for _, how := range []struct {
			name  string
			edit  func(l [][]byte) [][]byte
			kinds []verify.Kind
			at    []int
		}{
			{"deleted", func(l [][]byte) [][]byte { return slices.Delete(l, i, i+1) }, []verify.Kind{verify.Missing}, []int{i}},
			{"doubled", func(l [][]byte) [][]byte { return slices.Insert(l, i, l[i]) }, []verify.Kind{verify.Inserted}, []int{i, i + 1}},
			{"inserted before", func(l [][]byte) [][]byte { return slices.Insert(l, i, []byte("{}\n")) }, []verify.Kind{verify.Inserted}, []int{i}},
			{"swapped", func(l [][]byte) [][]byte { l[i], l[other] = l[other], l[i]; return l }, []verify.Kind{verify.Reordered}, []int{i}},
		} {
			for _, count := range []bool{false, true} {
				old := map[int][][]byte{}
				m.exec("BEGIN")
				for _, first := range firsts {
					old[first] = m.segment(first)
					m.set(first, how.edit(slices.Clone(old[first])), count)
				}
				m.exec("COMMIT")
				r := m.verify()
				m.exec("BEGIN")
				for _, first := range firsts {
					m.set(first, old[first], true)
				}
				m.exec("COMMIT")
				for _, first := range firsts {
					if !slices.ContainsFunc(how.at, func(at int) bool { return named(r, first+at, how.kinds...) }) {
						t.Fatalf("record %d was %s (count %v): %v", first+i, how.name, count, r.Findings[:min(5, len(r.Findings))])
					}
				}
			}
		}
		// A record of each changes places with one of another segment.
		for _, first := range firsts {
			there := first + next*inSegment
			if there >= mutatedRecords() {
				break
			}
			a, b := m.segment(first), m.segment(there)
			x, y := slices.Clone(a), slices.Clone(b)
			x[i], y[other] = y[other], x[i]
			m.set(first, x, false)
			m.set(there, y, false)
			r := m.verify()
			m.set(first, a, false)
			m.set(there, b, false)
			if !named(r, first+i, verify.Reordered) || !named(r, there+other, verify.Reordered) {
				t.Fatalf("records %d and %d were swapped: %v", first+i, there+other, r.Findings)
			}
			if !*whole || first > 10*inSegment {
				break // those of other places come with other picks
			}
		}
	}
}

// TestOtherSegments: segments that are deleted, doubled, or say something else of themselves.
func TestOtherSegments(t *testing.T) {
	m := mutated(t)
	columns := "first, count, t0, t1, records"
	for _, s := range sample(mutatedRecords()/inSegment, 2, every) {
		first := s * inSegment
		m.exec("CREATE TABLE kept AS SELECT * FROM segment WHERE first = ?", first)
		restore := func() {
			m.exec("DELETE FROM segment WHERE first >= ? AND first < ?", first, first+inSegment)
			m.exec("INSERT INTO segment SELECT * FROM kept")
		}
		expect := func(what string, n int, kinds ...verify.Kind) {
			t.Helper()
			if r := m.verify(); !named(r, n, kinds...) {
				t.Fatalf("segment %d %s: %v", first, what, r.Findings)
			}
			restore()
		}
		m.exec("DELETE FROM segment WHERE first = ?", first)
		expect("was deleted", first, verify.Missing)
		m.exec("INSERT INTO segment (" + columns + ") SELECT first + 1, count, t0, t1, records FROM kept")
		expect("was doubled", first+1, verify.Inserted)
		m.exec("INSERT INTO segment (" + columns + ") SELECT -1, count, t0, t1, records FROM kept")
		if r := m.verify(); !named(r, -1, verify.Inserted) {
			t.Fatalf("a segment before the first: %v", r.Findings)
		}
		m.exec("DELETE FROM segment WHERE first < 0")
		m.exec("UPDATE segment SET first = first + 1 WHERE first = ?", first)
		expect("was moved", first, verify.Missing, verify.Reordered, verify.Changed)
		for _, count := range []int{-1, 0, 1, inSegment - 1, inSegment + 1, 1 << 40} {
			m.exec("UPDATE segment SET count = ? WHERE first = ?", count, first)
			expect(fmt.Sprintf("says that it has %d records", count), first, verify.Segment)
		}
		for _, column := range []string{"t0", "t1"} {
			m.exec("UPDATE segment SET "+column+" = '2026-01-01T00:00:00.000000Z' WHERE first = ?", first)
			expect("has another "+column, first, verify.Segment)
		}
		m.exec("UPDATE segment SET records = x'' WHERE first = ?", first)
		expect("is empty", first, verify.Segment)
		m.exec("UPDATE segment SET records = CAST(substr(records, 1, length(records) - 1) AS BLOB) WHERE first = ?", first)
		expect("has lost its last byte", first+inSegment-1, verify.Changed)
		m.exec("UPDATE segment SET records = CAST(records || x'0a' AS BLOB) WHERE first = ?", first)
		expect("has an empty line", first+inSegment, verify.Inserted)
		m.exec("DROP TABLE kept")
	}
}

// TestTruncated: the end of the log is cut off, with more and more of what tells of it.
func TestTruncated(t *testing.T) {
	m := mutated(t)
	var last []byte
	require.NoError(t, m.db.QueryRowContext(context.Background(), "SELECT note FROM checkpoint ORDER BY size DESC").Scan(&last))
	for _, s := range sample(mutatedRecords()/inSegment-1, 2, 100) {
		size, end := (s+1)*inSegment, mutatedRecords()
		cut := m.copy()
		cut.exec("DELETE FROM segment WHERE first >= ?", size)
		if r := cut.verify(); !named(r, size, verify.Missing) || !named(r, end-1, verify.Missing) {
			t.Fatalf("cut off after %d: %v", size, r.Findings)
		}
		// The hashes as they were when the log had that size.
		short := begin(t)
		short.grow(size, inSegment, end)
		short.close()
		cut.exec("ATTACH ? AS short", short.path)
		cut.exec("DELETE FROM tile")
		cut.exec("INSERT INTO tile SELECT * FROM short.tile")
		if r := cut.verify(); !named(r, size, verify.Short) {
			t.Fatalf("cut off after %d, with its hashes: %v", size, r.Findings)
		}
		cut.exec("DELETE FROM checkpoint WHERE size > ?", size)
		if r := cut.verify(); len(r.Findings) != 0 {
			t.Fatalf("cut off after %d, with its checkpoints: %v", size, r.Findings)
		}
		if r := cut.verify(last); !named(r, size, verify.Short) || !named(r, end-1, verify.Short) {
			t.Fatalf("cut off after %d, and a later checkpoint is known: %v", size, r.Findings)
		}
	}
}

// TestChangedHash: each byte of each stored hash.
func TestChangedHash(t *testing.T) {
	m := mutated(t)
	type tile struct {
		level, n int
		hashes   []byte
	}
	var tiles []tile
	rows, err := m.db.QueryContext(context.Background(), "SELECT level, n, hashes FROM tile")
	require.NoError(t, err)
	for rows.Next() {
		var x tile
		require.NoError(t, rows.Scan(&x.level, &x.n, &x.hashes))
		tiles = append(tiles, x)
	}
	require.NoError(t, rows.Err())
	set := func(x tile, hashes []byte) {
		m.exec("UPDATE tile SET hashes = ? WHERE level = ? AND n = ?", hashes, x.level, x.n)
	}
	for _, at := range sample(32, 2, every) { // of each third hash
		for _, shift := range sample(3, 1, every) {
			var want, got []int
			for _, x := range tiles {
				if x.level > 0 {
					continue
				}
				hashes := bytes.Clone(x.hashes)
				for i := shift; i < len(hashes)/32; i += 3 {
					hashes[i*32+at] ^= 1 << (at % 8)
					want = append(want, x.n*256+i)
				}
				set(x, hashes)
			}
			for _, f := range m.verify().Findings {
				if f.Kind == verify.Hashes && f.First >= 0 {
					got = append(got, int(f.First))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("byte %d of each third hash was changed: %d are named, want %d", at, len(got), len(want))
			}
			for _, x := range tiles {
				set(x, x.hashes)
			}
		}
	}
	has := func(r *verify.Report) bool { return named(r, -1, verify.Hashes) }
	for _, x := range tiles {
		if x.level == 0 {
			continue
		}
		for _, at := range sample(len(x.hashes), 3, every) {
			hashes := bytes.Clone(x.hashes)
			hashes[at] ^= 0x10
			set(x, hashes)
			if r := m.verify(); !has(r) {
				t.Fatalf("byte %d of tile %d of level %d was changed: %v", at, x.n, x.level, r.Findings)
			}
		}
		set(x, x.hashes)
	}
	for _, i := range sample(len(tiles), 3, every) {
		x := tiles[i]
		m.exec("DELETE FROM tile WHERE level = ? AND n = ?", x.level, x.n)
		if r := m.verify(); !has(r) && !named(r, x.n*256, verify.Hashes) {
			t.Fatalf("tile %d of level %d was deleted: %v", x.n, x.level, r.Findings)
		}
		m.exec("INSERT INTO tile VALUES (?, ?, ?)", x.level, x.n, x.hashes)
	}
	m.exec("INSERT INTO tile VALUES (0, 1000000, x'00')")
	if r := m.verify(); !has(r) {
		t.Fatalf("a tile too many: %v", r.Findings)
	}
}

// TestChangedCheckpoint: each byte of checkpoints, and checkpoints of other places and logs.
func TestChangedCheckpoint(t *testing.T) {
	m := mutated(t)
	var sizes []int
	var notes []string
	rows, err := m.db.QueryContext(context.Background(), "SELECT size, note FROM checkpoint ORDER BY size")
	require.NoError(t, err)
	for rows.Next() {
		var size int
		var note string
		require.NoError(t, rows.Scan(&size, &note))
		sizes, notes = append(sizes, size), append(notes, note)
	}
	require.NoError(t, rows.Err())
	named := func(r *verify.Report, size int) bool {
		return slices.ContainsFunc(r.Findings, func(f verify.Finding) bool {
			return f.Kind == verify.Unsigned && strings.Contains(f.Text, fmt.Sprintf("checkpoint of %d records", size))
		})
	}
	set := func(i int, note string) { m.exec("UPDATE checkpoint SET note = ? WHERE size = ?", note, sizes[i]) }
	for _, i := range sample(len(notes), 2, every) {
		for _, at := range sample(len(notes[i]), 5, every) {
			note := []byte(notes[i])
			note[at] ^= 1
			set(i, string(note))
			if r := m.verify(); !named(r, sizes[i]) {
				t.Fatalf("byte %d of the checkpoint of %d records was changed: %q, %v", at, sizes[i], note, r.Findings)
			}
		}
		for j := range notes {
			if j == i || !*whole && (i+j)%5 != 0 {
				continue
			}
			set(i, notes[j])
			if r := m.verify(); !named(r, sizes[i]) {
				t.Fatalf("the checkpoint of %d records was replaced by that of %d: %v", sizes[i], sizes[j], r.Findings)
			}
		}
		set(i, notes[i])
		m.exec("UPDATE checkpoint SET size = size + 1 WHERE size = ?", sizes[i])
		if r := m.verify(); !named(r, sizes[i]+1) {
			t.Fatalf("the checkpoint of %d records has another size: %v", sizes[i], r.Findings)
		}
		m.exec("UPDATE checkpoint SET size = size - 1 WHERE size = ?", sizes[i]+1)
	}
	m.exec("INSERT INTO checkpoint VALUES (?, ?)", mutatedRecords()+1, notes[3])
	if r := m.verify(); !named(r, mutatedRecords()+1) {
		t.Fatalf("an old checkpoint was added at the end: %v", r.Findings)
	}
	m.exec("DELETE FROM checkpoint")
	if r := m.verify(); !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool { return f.Kind == verify.Unsigned }) {
		t.Fatalf("without checkpoints: %v", r.Findings)
	}
}

// TestOtherKey: another key has signed the log, in part or as a whole.
func TestOtherKey(t *testing.T) {
	m := mutated(t)
	other, err := logfile.OpenKey(filepath.Join(t.TempDir(), "audit.key"))
	require.NoError(t, err)
	r := verifyFile(t, m.path, verify.Options{Keys: []string{other.Verifier()}})
	if !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool { return strings.Contains(f.Text, "nothing is proven") }) {
		t.Errorf("with the key of another log: %v", r.Findings)
	}
}

// TestWrittenAnew: somebody who has the disk but not the key writes the log again, with all
// its hashes, from a record on that was changed, deleted, or swapped with the next.
func TestRewritten(t *testing.T) {
	m := mutated(t)
	all := lines(0, mutatedRecords())
	for _, n := range sample(mutatedRecords()-1, 2, 40) {
		for how, list := range map[string][][]byte{
			"changed": slices.Concat(all[:n], [][]byte{bytes.Replace(all[n], []byte("alice"), []byte("mally"), 1)}, all[n+1:]),
			"deleted": slices.Concat(all[:n], all[n+1:]),
			"swapped": slices.Concat(all[:n], [][]byte{all[n+1], all[n]}, all[n+2:]),
			"doubled": slices.Concat(all[:n], [][]byte{all[n], all[n]}, all[n+1:]),
		} {
			w := begin(t)
			w.add(list)
			w.close()
			change(t, w.path, "ATTACH '"+m.path+"' AS real; DELETE FROM checkpoint; INSERT INTO checkpoint SELECT * FROM real.checkpoint")
			r := verifyFile(t, w.path, verify.Options{Keys: []string{m.key}})
			if !named(r, n, verify.Inconsistent) && !named(r, n+1, verify.Hole) { // behind the last checkpoint
				t.Errorf("record %d was %s, and all written anew: %v", n, how, r.Findings)
			}
		}
	}
}

// TestDamaged: bits of the file itself. Each is named, or changes nothing that is read.
func TestDamaged(t *testing.T) {
	w := begin(t)
	w.grow(400, inSegment, 5)
	w.checkpoint()
	w.close()
	sound, err := os.ReadFile(w.path)
	require.NoError(t, err)
	content := func(path string) string {
		l, err := logfile.OpenReadOnly(context.Background(), path)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = l.Close() }()
		var b strings.Builder
		_ = l.Segments(context.Background(), logfile.Span{}, func(s logfile.Segment) error {
			_, err := fmt.Fprintln(&b, s.First, s.Count, s.T0, s.T1, string(s.Records))
			return err
		})
		_ = l.Checkpoints(context.Background(), -1, func(size int64, msg []byte) error {
			_, err := fmt.Fprintln(&b, size, string(msg))
			return err
		})
		return b.String()
	}
	want := content(w.path)
	path := filepath.Join(t.TempDir(), "audit.db")
	unnoticed := 0
	for _, at := range sample(len(sound), 40, 5000) {
		broken := bytes.Clone(sound)
		broken[at] ^= 1 << (at % 8)
		require.NoError(t, os.WriteFile(path, broken, 0o600))
		r, err := verify.File(context.Background(), path, verify.Options{Keys: []string{w.key.Verifier()}})
		if err != nil { // of a newer mcpctl
			if !errors.Is(err, logfile.ErrNewer) {
				t.Errorf("byte %d: %v", at, err)
			}
			continue
		}
		if len(r.Findings) > 0 {
			continue
		}
		unnoticed++
		if r.Size != 400 || r.Signed != 400 || content(path) != want {
			t.Errorf("byte %d was changed, and nothing is named: %+v", at, r)
		}
	}
	t.Logf("%d changes are of bytes that nothing is read from", unnoticed)
}
