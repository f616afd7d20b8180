package logfile_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit/merkle"
	"github.com/mcpctl/mcpctl/test/require"
)

// witness is a witness as c2sp.org/tlog-witness and c2sp.org/tlog-cosignature describe it,
// made of x/mod. It knows one log.
type witness struct {
	log note.Verifier
	key ed25519.PrivateKey

	mu   sync.Mutex
	last tlog.Tree // that it has signed
}

const (
	witnessName = "witness.example/w1"
	witnessTime = 1679315147
)

func (w *witness) public() []byte {
	return append([]byte{4}, w.key.Public().(ed25519.PublicKey)...) // a cosignature of Ed25519
}

// Name, KeyHash and Verify are for [note.Verifier].
func (w *witness) Name() string { return witnessName }

func (w *witness) KeyHash() uint32 {
	sum := sha256.Sum256(append([]byte(witnessName+"\n"), w.public()...))
	return binary.BigEndian.Uint32(sum[:])
}

func (w *witness) Verify(msg, sig []byte) bool {
	t := binary.BigEndian.Uint64(sig)
	return ed25519.Verify(w.key.Public().(ed25519.PublicKey), fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", t, msg), sig[8:])
}

func (w *witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/add-checkpoint" {
		out.WriteHeader(http.StatusNotFound)
		return
	}
	head, checkpoint, _ := strings.Cut(string(body), "\n\n")
	lines := strings.Split(head, "\n")
	var old int64
	if _, err := fmt.Sscanf(lines[0], "old %d", &old); err != nil {
		out.WriteHeader(http.StatusBadRequest)
		return
	}
	var proof tlog.TreeProof
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			out.WriteHeader(http.StatusBadRequest)
			return
		}
		proof = append(proof, h)
	}
	n, err := note.Open([]byte(checkpoint), note.VerifierList(w.log))
	if err != nil {
		out.WriteHeader(http.StatusForbidden)
		return
	}
	part := strings.Split(n.Text, "\n")
	var tree tlog.Tree
	if _, err := fmt.Sscan(part[1], &tree.N); err != nil || part[0] != w.log.Name() || old > tree.N {
		out.WriteHeader(http.StatusBadRequest)
		return
	}
	tree.Hash, err = tlog.ParseHash(part[2])
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		out.WriteHeader(http.StatusBadRequest)
	case old != w.last.N, old == tree.N && old > 0 && tree.Hash != w.last.Hash:
		out.Header().Set("Content-Type", "text/x.tlog.size")
		out.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(out, "%d\n", w.last.N)
	case old == 0 && len(proof) > 0, old > 0 && old < tree.N && tlog.CheckTree(proof, tree.N, tree.Hash, old, w.last.Hash) != nil:
		out.WriteHeader(http.StatusUnprocessableEntity)
	default:
		w.last = tree
		stamp := binary.BigEndian.AppendUint64(nil, witnessTime)
		sig := ed25519.Sign(w.key, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", witnessTime, n.Text))
		line := append(append(binary.BigEndian.AppendUint32(nil, w.KeyHash()), stamp...), sig...)
		_, _ = fmt.Fprintf(out, "— %s %s\n", witnessName, base64.StdEncoding.EncodeToString(line))
	}
}

// TestWitness: a witness signs the log as it grows, and not another history of it.
func TestWitness(t *testing.T) {
	w := begin(t)
	_, key, err := ed25519.GenerateKey(bytes.NewReader(make([]byte, 64)))
	require.NoError(t, err)
	wit := &witness{log: w.verifier(), key: key}
	server := httptest.NewServer(wit)
	defer server.Close()
	submit := func(before merkle.Checkpoint, path []tlog.Hash, msg []byte) (int, string) {
		t.Helper()
		body := fmt.Appendf(nil, "old %d\n", before.Size)
		for _, h := range path {
			body = fmt.Appendln(body, h)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/add-checkpoint", bytes.NewReader(append(append(body, '\n'), msg...)))
		require.NoError(t, err)
		r, err := server.Client().Do(req)
		require.NoError(t, err)
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return r.StatusCode, string(text)
	}
	before, last := merkle.Checkpoint{Origin: w.key.Origin()}, []byte(nil)
	for _, n := range []int{1, 3, 252, 1, 700, 0} {
		w.append(records("a", 0, n))
		msg := w.checkpoint()
		c, _, err := merkle.Open(msg, w.verifier())
		require.NoError(t, err)
		path, err := merkle.Extends(before, c, w.log.Tiles(t.Context()))
		require.NoError(t, err)
		code, cosigned := submit(before, path, msg)
		if code != http.StatusOK {
			t.Fatalf("size %d after %d: status %d", c.Size, before.Size, code)
		}
		// The log's checkpoint with the line of the witness verifies with both keys.
		both, n, err := merkle.Open(append(bytes.Clone(msg), cosigned...), w.verifier(), wit)
		if err != nil || len(n.Sigs) != 2 || both != c {
			t.Fatalf("with the line of the witness: %v", err)
		}
		before, last = c, msg
	}
	if code, text := submit(merkle.Checkpoint{}, nil, last); code != http.StatusConflict || text != "957\n" {
		t.Errorf("an old size that is too small: %d, %q", code, text)
	}
	// Another history with the same key: the log was deleted and begun again.
	other := begin(t)
	other.key = w.key
	require.NoError(t, other.log.Close())
	other.path += ".new"
	other.log = other.open()
	other.append(records("b", 0, 2000))
	msg := other.checkpoint()
	c, err := merkle.Unsigned(msg)
	require.NoError(t, err)
	if _, err := merkle.Extends(before, c, other.log.Tiles(t.Context())); !errors.Is(err, merkle.ErrProof) {
		t.Errorf("a proof of another history: %v", err)
	}
	path, err := tlog.ProveTree(c.Size, before.Size, other.log.Tiles(t.Context()))
	require.NoError(t, err)
	if code, _ := submit(before, path, msg); code != http.StatusUnprocessableEntity {
		t.Errorf("another history: status %d", code)
	}
}
