// Package collector sends the audit log to the receiver of a real OpenTelemetry collector. It
// is a module of its own: nothing else needs what a collector needs.
package collector

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/export"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
)

// collector starts a receiver of OTLP over HTTP, and returns its address and what it gets.
func collector(t *testing.T) (string, *consumertest.LogsSink) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	settings := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": map[string]any{"endpoint": address}}})
	if err := settings.Unmarshal(config); err != nil {
		t.Fatal(err)
	}
	sink := new(consumertest.LogsSink)
	receiver, err := factory.CreateLogs(t.Context(), receivertest.NewNopSettings(factory.Type()), config, sink)
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := receiver.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return "http://" + address + "/v1/logs", sink
}

// TestCollector: a collector has each record once, with its bytes, its time, the names of the
// conventions, and the checkpoints.
func TestCollector(t *testing.T) {
	url, sink := collector(t)
	dir := t.TempDir()
	key, err := logfile.OpenKey(filepath.Join(dir, "audit.key"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := logfile.Open(t.Context(), filepath.Join(dir, "audit.db"), logfile.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Start(export.Options{
		Log: log, Origin: key.Origin(), Dir: dir, Version: "1.2.3", Logger: slog.New(slog.DiscardHandler),
		Collectors: []export.Collector{{URL: url, Header: http.Header{"Authorization": {"Bearer s3cret"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const all = 1500 // several requests
	at := time.Date(2026, 11, 23, 9, 0, 0, 123456000, time.UTC)
	bodies := map[string]int{}
	for n := 0; n < all; n += 100 {
		var b audit.Batch
		for i := range 100 {
			r := audit.Record{Time: at, Run: "run", N: uint64(n + i + 1), Kind: audit.KindCall}
			r.Who.ID, r.What.Server, r.What.Item, r.What.Era, r.Said.Verdict = "alice", "gh", "create_issue", "2026-07-28", audit.VerdictDeny
			r.Said.By, r.What.Trace = []string{"rule-1", "rule-2"}, "4bf92f3577b34da6a3ce929d0e0e4736"
			raw := r.Append(nil)
			b.Records = append(b.Records, raw)
			bodies[string(raw)]++
		}
		if _, err := log.Append(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		e.Wake()
	}
	note, err := log.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closing, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e.Close(closing)
	if s, _ := e.Status(); s[0].Next != all || s[0].Problem != "" || s[0].Dropped != 0 {
		t.Errorf("got %+v", s)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	checkpoints := 0
	for _, got := range sink.AllLogs() {
		resource := got.ResourceLogs().At(0)
		if name, _ := resource.Resource().Attributes().Get("service.name"); name.Str() != "mcpctl" {
			t.Errorf("the service is %q", name.Str())
		}
		records := resource.ScopeLogs().At(0).LogRecords()
		for i := range records.Len() {
			r := records.At(i)
			if r.EventName() == "mcpctl.audit.checkpoint" {
				if checkpoints++; r.Body().Str() != string(note) {
					t.Errorf("got the checkpoint %s", r.Body().Str())
				}
				continue
			}
			bodies[r.Body().Str()]--
			check(t, r, at)
		}
	}
	for body, n := range bodies {
		if n != 0 {
			t.Fatalf("%d times too few: %s", n, body)
		}
	}
	if checkpoints != 1 {
		t.Errorf("%d checkpoints", checkpoints)
	}
}

func check(t *testing.T, r plog.LogRecord, at time.Time) {
	t.Helper()
	got := fmt.Sprintf("%v %v %s %s", r.Timestamp().AsTime().Equal(at), r.SeverityNumber(), r.EventName(), r.TraceID())
	for _, name := range []string{"mcp.method.name", "mcp.protocol.version", "gen_ai.operation.name", "gen_ai.tool.name", "error.type", "user.id", "mcpctl.server", "mcpctl.verdict", "mcpctl.policies"} {
		v, _ := r.Attributes().Get(name)
		got += " " + v.AsString()
	}
	const want = `true Warn mcpctl.audit.call 4bf92f3577b34da6a3ce929d0e0e4736 tools/call 2026-07-28 execute_tool create_issue denied alice gh deny ["rule-1","rule-2"]`
	if got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}
