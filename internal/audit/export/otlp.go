package export

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
)

// These are the messages of OTLP that a request with logs has, in the form of its JSON:
// names in lower camel case, 64-bit numbers as text, ids in hexadecimal.
type (
	otlpRequest struct {
		ResourceLogs []otlpResourceLogs `json:"resourceLogs"`
	}
	otlpResourceLogs struct {
		Resource  otlpResource    `json:"resource"`
		ScopeLogs []otlpScopeLogs `json:"scopeLogs"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeLogs struct {
		Scope      otlpScope    `json:"scope"`
		LogRecords []otlpRecord `json:"logRecords"`
	}
	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	otlpRecord struct {
		Time       string          `json:"timeUnixNano"`
		Observed   string          `json:"observedTimeUnixNano"`
		Severity   int             `json:"severityNumber"`
		Text       string          `json:"severityText"`
		EventName  string          `json:"eventName"`
		Body       otlpValue       `json:"body"`
		Attributes []otlpAttribute `json:"attributes"`
		TraceID    string          `json:"traceId,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string    `json:"stringValue,omitempty"`
		Int    string     `json:"intValue,omitempty"`
		Array  *otlpArray `json:"arrayValue,omitempty"`
	}
	otlpArray struct {
		Values []otlpValue `json:"values"`
	}
)

// traceBytes is the length of a trace's id.
const traceBytes = 16

// Severities of the data model of logs.
const (
	severityInfo = 9
	severityWarn = 13
)

// attributes collects attributes; empty ones are left out.
type attributes []otlpAttribute

func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, otlpAttribute{key, otlpValue{String: &value}})
	}
}

func (a *attributes) number(key string, n int64) {
	*a = append(*a, otlpAttribute{key, otlpValue{Int: strconv.FormatInt(n, 10)}})
}

func (a *attributes) list(key string, list []string) {
	if len(list) == 0 {
		return
	}
	values := make([]otlpValue, len(list))
	for i := range list {
		values[i].String = &list[i]
	}
	*a = append(*a, otlpAttribute{key, otlpValue{Array: &otlpArray{values}}})
}

// methodOf returns the method that a record is about, "" for none.
func methodOf(r *audit.Record) string {
	if r.Kind == audit.KindList {
		return r.Text
	}
	return map[audit.Kind]string{audit.KindCall: "tools/call", audit.KindGet: "prompts/get", audit.KindRead: "resources/read"}[r.Kind]
}

// errorType returns the class of a failure, as the conventions want it; "" for none.
func errorType(r *audit.Record) string {
	switch r.Decision.Verdict {
	case audit.VerdictDeny:
		return "denied"
	case audit.VerdictLimit:
		return "limited"
	}
	switch r.Outcome.Out {
	case "", audit.OutOK:
		return ""
	case audit.OutToolError:
		return "tool_error"
	case audit.OutError:
		return "_OTHER"
	default:
		return r.Outcome.Out
	}
}

// logRecord returns a record of the log as one of OpenTelemetry. Its body is the record's
// bytes, so that it can be proven to be in the log.
func logRecord(n int64, raw []byte) otlpRecord {
	r, err := audit.Parse(raw)
	body := string(raw)
	out := otlpRecord{Severity: severityInfo, Text: "INFO", EventName: "mcpctl.audit." + cmp.Or(string(r.Kind), "record"), Body: otlpValue{String: &body}}
	out.at(r.Time)
	var a attributes
	a.number("mcpctl.audit.number", n)
	if err != nil { // of a newer mcpctl: its body says what it is
		out.Attributes = a
		return out
	}
	a.text("mcpctl.audit.record", r.Run+"-"+strconv.FormatUint(r.N, 10))
	if r.Of != 0 {
		a.text("mcpctl.audit.of", r.Run+"-"+strconv.FormatUint(r.Of, 10))
	}
	a.text("mcp.method.name", methodOf(&r))
	a.text("mcp.protocol.version", r.Target.Era)
	switch r.Kind {
	case audit.KindCall:
		a.text("gen_ai.operation.name", "execute_tool")
		a.text("gen_ai.tool.name", r.Target.Item)
	case audit.KindGet:
		a.text("gen_ai.prompt.name", r.Target.Item)
	case audit.KindRead:
		a.text("mcp.resource.uri", r.Target.Item)
	default:
		a.text("mcpctl.item", r.Target.Item)
	}
	a.text("error.type", errorType(&r))
	a.text("user.id", r.Principal.ID)
	a.text("user.name", r.Principal.Name)
	if r.Principal.Addr.IsValid() {
		a.text("client.address", r.Principal.Addr.String())
	}
	a.text("gen_ai.conversation.id", r.Principal.Flow)
	a.text("mcpctl.client", r.Principal.Client)
	a.text("mcpctl.server", r.Target.Server)
	a.text("mcpctl.verdict", r.Decision.Verdict)
	a.list("mcpctl.policies", r.Decision.By)
	a.list("mcpctl.shadow_policies", r.Decision.Would)
	out.Attributes = a
	if r.Decision.Verdict == audit.VerdictDeny || r.Decision.Verdict == audit.VerdictLimit || r.Kind == audit.KindAuth || r.Kind == audit.KindGap {
		out.Severity, out.Text = severityWarn, "WARN"
	}
	if id, err := hex.DecodeString(r.Target.Trace); err == nil && len(id) == traceBytes {
		out.TraceID = r.Target.Trace
	}
	return out
}

// logRecords returns a batch as records of OpenTelemetry. last is the time of the record
// before the batch, which checkpoints get without one; the new one is returned.
func (b *batch) logRecords(last string) ([]otlpRecord, string) {
	all := make([]otlpRecord, 0, len(b.records)+len(b.checkpoints))
	for i, raw := range b.records {
		all = append(all, logRecord(b.first+int64(i), raw))
		last = all[i].Time
	}
	for _, c := range b.checkpoints {
		all = append(all, checkpointRecord(c, last))
	}
	return all, last
}

func (o *otlpRecord) at(t time.Time) {
	o.Time = "0"
	if !t.IsZero() {
		o.Time = strconv.FormatInt(t.UnixNano(), 10)
	}
	o.Observed = o.Time
}

// checkpointRecord returns a checkpoint as a record of OpenTelemetry, at the time of the last
// record before it.
func checkpointRecord(c checkpoint, at string) otlpRecord {
	body := string(c.note)
	out := otlpRecord{Time: at, Observed: at, Severity: severityInfo, Text: "INFO", EventName: "mcpctl.audit.checkpoint", Body: otlpValue{String: &body}}
	var a attributes
	a.number("mcpctl.audit.size", c.size)
	out.Attributes = a
	return out
}

// encode returns the request with what is sent at a time.
func encode(records []otlpRecord, version string) ([]byte, error) {
	var principal attributes
	principal.text("service.name", "mcpctl")
	principal.text("service.version", version)
	return json.Marshal(otlpRequest{[]otlpResourceLogs{{
		Resource:  otlpResource{principal},
		ScopeLogs: []otlpScopeLogs{{otlpScope{Name: "mcpctl.audit", Version: version}, records}},
	}}})
}
