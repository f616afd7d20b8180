package endpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
)

// IsModern reports whether a message is served by the rules of the stateless era.
// What decides is the claim, params._meta's protocolVersion, and, for a message
// without one, the MCP-Protocol-Version header of HTTP, "" where there is none.
// A claim that names a revision with a handshake means nothing inside a session.
func IsModern(line []byte, m *rawjson.Message, header string, session bool) bool {
	if !m.Method.Present() {
		return false // an answer: the stateless era has none
	}
	if !m.MetaVersion.Present() {
		return header != "" && revision.IsModern(header)
	}
	if string(m.MetaVersion.Of(line)) == quotedModern {
		return true
	}
	v, ok := rawjson.String(line, m.MetaVersion)
	return !ok || !session || !slices.Contains(revision.LegacyVersions(), v)
}

const quotedModern = `"` + revision.Modern + `"`

// Admit looks at a modern request in the order that makes the answer stable
// where several things are wrong: the version header against the claim, the
// version, what _meta must hold, the method, then the headers that repeat parts
// of the body. The header is nil where the transport has none. It returns the method.
func Admit(line []byte, m *rawjson.Message, header http.Header) (method string, refusal *Refusal) {
	if plainCall(line, m, header) {
		return revision.MethodToolsCall, nil
	}
	if method, refusal = admit(line, m, header); refusal != nil {
		refusal.id = m.ID.Of(line)
	}
	return method, refusal
}

func admit(line []byte, m *rawjson.Message, header http.Header) (method string, refusal *Refusal) {
	method, ok := rawjson.String(line, m.Method)
	if !ok {
		return "", refused(http.StatusBadRequest, runtime.CodeInvalidRequest, "method is not a string")
	}
	claim, claimed := rawjson.String(line, m.MetaVersion)
	if header != nil {
		if refusal := checkVersionHeader(header["Mcp-Protocol-Version"], method, claim, claimed); refusal != nil {
			return method, refusal
		}
	}
	switch {
	case !claimed:
		return method, missingMeta("protocolVersion")
	case claim != revision.Modern:
		return method, unsupportedModern(claim)
	case !rawjson.IsObject(m.MetaCapabilities.Of(line)):
		return method, missingMeta("clientCapabilities")
	}
	name, known := modernMethods(method)
	if !known {
		return method, refused(http.StatusNotFound, runtime.CodeMethodNotFound, "method not found: %s", method)
	}
	if header != nil {
		if refusal := checkMirrorHeaders(line, m, header, method, name); refusal != nil {
			return method, refusal
		}
	}
	return method, nil
}

// plainCall reports, without an allocation, that a message is a tools/call to admit;
// false means only that admit must look closer.
func plainCall(line []byte, m *rawjson.Message, header http.Header) bool {
	if string(m.Method.Of(line)) != `"tools/call"` || string(m.MetaVersion.Of(line)) != quotedModern || !rawjson.IsObject(m.MetaCapabilities.Of(line)) {
		return false
	}
	if header == nil {
		return true
	}
	name := m.Name.Of(line)
	version, method, names := header["Mcp-Protocol-Version"], header["Mcp-Method"], header["Mcp-Name"]
	return len(version) == 1 && version[0] == revision.Modern && len(method) == 1 && method[0] == revision.MethodToolsCall &&
		len(name) > 1 && name[0] == '"' && bytes.IndexByte(name, '\\') < 0 && len(names) == 1 && names[0] == string(name[1:len(name)-1])
}

func missingMeta(key string) *Refusal {
	return refused(http.StatusBadRequest, runtime.CodeInvalidParams, "missing or malformed _meta key io.modelcontextprotocol/%s", key)
}

// checkVersionHeader compares MCP-Protocol-Version with the claim.
func checkVersionHeader(lines []string, method, claim string, claimed bool) *Refusal {
	mismatch := func(format string, a ...any) *Refusal {
		return refused(http.StatusBadRequest, runtime.CodeHeaderMismatch, format, a...)
	}
	switch {
	case len(lines) > 1:
		return mismatch("MCP-Protocol-Version is there %d times", len(lines))
	case !claimed && len(lines) == 1 && method == "initialize":
		return mismatch("initialize belongs to revisions before %s, and MCP-Protocol-Version says %q", revision.Modern, lines[0])
	case !claimed && len(lines) == 1 && lines[0] != revision.Modern:
		return unsupportedModern(lines[0])
	case !claimed:
		return missingMeta("protocolVersion")
	case slices.Contains(revision.LegacyVersions(), claim):
		return unsupportedModern(claim)
	case len(lines) == 0:
		return mismatch("MCP-Protocol-Version is missing")
	case lines[0] != claim:
		return mismatch("MCP-Protocol-Version %q does not match %q in the body", lines[0], claim)
	}
	return nil
}

// unsupportedModern refuses a revision that is not served without a handshake
// (2026-07-28, Versioning).
func unsupportedModern(version string) *Refusal {
	data, err := json.Marshal(map[string]any{"supported": revision.Versions(), "requested": version})
	if err != nil {
		panic("proxy: a list of strings has no JSON form: " + err.Error())
	}
	return &Refusal{Status: http.StatusBadRequest, object: jsonrpc.ErrorObject(runtime.CodeUnsupportedVersion, "Unsupported protocol version", data)}
}

// namedBy is the member of params that the Mcp-Name header repeats.
type namedBy int

const (
	byNothing namedBy = iota
	byName
	byURI
	byTask
)

// modernMethods are the requests of the stateless era.
func modernMethods(method string) (namedBy, bool) {
	switch method {
	case revision.MethodToolsCall, revision.MethodPromptsGet:
		return byName, true
	case revision.MethodResourcesRead:
		return byURI, true
	case revision.MethodTasksGet, revision.MethodTasksUpdate, revision.MethodTasksCancel: // the tasks extension
		return byTask, true
	case revision.MethodDiscover, revision.MethodToolsList, revision.MethodPromptsList, revision.MethodResourcesList, revision.MethodResourceTemplatesList,
		revision.MethodComplete, revision.MethodSubscriptionsListen:
		return byNothing, true
	}
	return byNothing, false
}

// checkMirrorHeaders compares Mcp-Method and Mcp-Name with the body (2026-07-28,
// Streamable HTTP, Request Metadata). A name that the body lacks is its own
// fault, found later.
func checkMirrorHeaders(line []byte, m *rawjson.Message, header http.Header, method string, named namedBy) *Refusal {
	if why := mirrors(header["Mcp-Method"], "Mcp-Method", method); why != "" {
		return refused(http.StatusBadRequest, runtime.CodeHeaderMismatch, "%s", why)
	}
	at := rawjson.Span{}
	switch named {
	case byName:
		at = m.Name
	case byURI:
		at = m.URI
	case byTask:
		at = m.TaskID
	case byNothing:
	}
	if want, ok := rawjson.String(line, at); ok {
		if why := mirrors(header["Mcp-Name"], "Mcp-Name", want); why != "" {
			return refused(http.StatusBadRequest, runtime.CodeHeaderMismatch, "%s", why)
		}
	}
	return nil
}

// mirrors returns why header lines do not repeat a value, "" where they do. A
// value may stand as it is or in the base64 wrapper: not all clients write it.
func mirrors(lines []string, name, want string) string {
	switch len(lines) {
	case 0:
		return name + " is missing"
	case 1:
	default:
		return fmt.Sprintf("%s is there %d times", name, len(lines))
	}
	if lines[0] == want {
		return ""
	}
	got, err := revision.DecodeHeader(lines[0])
	switch {
	case err != nil:
		return name + ": " + err.Error()
	case got != want:
		return fmt.Sprintf("%s %q does not match %q in the body", name, lines[0], want)
	}
	return ""
}

// StatusFor returns the HTTP status for an answer (2026-07-28, Streamable
// HTTP): 404 for an unknown method, 400 for a malformed request, else 200.
func StatusFor(a router.Answer) int {
	if a.Object == nil {
		return http.StatusOK
	}
	switch runtime.ParseError(a.Object).Code {
	case runtime.CodeMethodNotFound:
		return http.StatusNotFound
	case runtime.CodeParseError, runtime.CodeInvalidRequest, runtime.CodeHeaderMismatch, runtime.CodeMissingCapability, runtime.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
