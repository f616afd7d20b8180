//go:build integration

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/generated/everything"
	"github.com/mcpctl/mcpctl/generated/filesystem"
	"github.com/mcpctl/mcpctl/generated/memory"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/codegen"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// liveCall is a call of a generated client.
type liveCall struct {
	// does makes it and gives the result as the server sent it and, where there
	// is one, the typed result.
	does func(ctx context.Context, c liveClient) (raw json.RawMessage, typed any, err error)
	// varies is what two calls of the server need not have in common.
	varies string
}

// liveClient is a connection with the clients on it. Arguments are kept.
type liveClient struct {
	*runtime.Client
	args *json.RawMessage
	ev   *everything.Client
	fs   *filesystem.Client
	mem  *memory.Client
}

func (c liveClient) CallTool(ctx context.Context, name string, args json.RawMessage, opts *runtime.CallOptions) (*runtime.ToolResult, error) {
	*c.args = args
	return c.Client.CallTool(ctx, name, args, opts)
}

// plain is a call of a tool without an output schema.
func plain(f func(context.Context, liveClient) (*runtime.ToolResult, error)) liveCall {
	return liveCall{does: func(ctx context.Context, c liveClient) (json.RawMessage, any, error) {
		r, err := f(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return r.Raw, nil, nil
	}}
}

// typed is a call of a tool that has one.
func typed[R any](f func(context.Context, liveClient) (*R, error), raw func(*R) *runtime.ToolResult) liveCall {
	return liveCall{does: func(ctx context.Context, c liveClient) (json.RawMessage, any, error) {
		r, err := f(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return raw(r).Raw, r, nil
	}}
}

func prompt(f func(context.Context, liveClient) (*runtime.PromptResult, error)) liveCall {
	return liveCall{does: func(ctx context.Context, c liveClient) (json.RawMessage, any, error) {
		r, err := f(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return r.Raw, nil, nil
	}}
}

func resource(f func(context.Context, liveClient) (*runtime.ResourceResult, error)) liveCall {
	return liveCall{does: func(ctx context.Context, c liveClient) (json.RawMessage, any, error) {
		r, err := f(ctx, c)
		if err != nil {
			return nil, nil, err
		}
		return r.Raw, nil, nil
	}}
}

func (l liveCall) but(varies string) liveCall {
	l.varies = varies
	return l
}

// clock is a time of day in the text of a resource: when it was made.
const clock = `created at \d+:\d+:\d+ [AP]M`

// liveCalls has every read-only tool of the three servers, and every prompt,
// resource and template, by server and then by what the command line calls it:
// "call TOOL", "prompt NAME N=V…" or "read URI".
func liveCalls(dir string) map[string]map[string]liveCall {
	file := func(name string) string { return filepath.Join(dir, name) }
	return map[string]map[string]liveCall{
		"everything": {
			"call echo": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) {
				return c.ev.Echo(ctx, everything.EchoParams{Message: `<é> "quoted" ` + "\u2028"})
			}),
			"call get-annotated-message": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) {
				return c.ev.GetAnnotatedMessage(ctx, everything.GetAnnotatedMessageParams{MessageType: everything.GetAnnotatedMessageTypeError, IncludeImage: new(true)})
			}),
			"call get-env": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) { return c.ev.GetEnv(ctx) }).but(guardMark),
			"call get-resource-links": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) {
				return c.ev.GetResourceLinks(ctx, everything.GetResourceLinksParams{Count: new(2.0)})
			}),
			"call get-resource-reference": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) {
				return c.ev.GetResourceReference(ctx, everything.GetResourceReferenceParams{ResourceType: new(everything.GetResourceReferenceResourceTypeText), ResourceID: new(2.0)})
			}).but(clock),
			"call get-structured-content": typed(func(ctx context.Context, c liveClient) (*everything.GetStructuredContentResult, error) {
				return c.ev.GetStructuredContent(ctx, everything.GetStructuredContentParams{Location: everything.GetStructuredContentLocationChicago})
			}, func(r *everything.GetStructuredContentResult) *runtime.ToolResult { return r.Raw }),
			"call get-sum": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) {
				return c.ev.GetSum(ctx, everything.GetSumParams{A: 1e21, B: -0.5})
			}),
			"call get-tiny-image": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) { return c.ev.GetTinyImage(ctx) }),
			"call trigger-long-running-operation": plain(func(ctx context.Context, c liveClient) (*runtime.ToolResult, error) {
				heard := 0
				r, err := c.ev.TriggerLongRunningOperation(ctx, everything.TriggerLongRunningOperationParams{Duration: new(0.2), Steps: new(2.0)},
					runtime.WithProgress(func(runtime.Progress) { heard++ }))
				if err == nil && heard == 0 {
					err = fmt.Errorf("no progress was heard")
				}
				return r, err
			}),
			"prompt simple-prompt": prompt(func(ctx context.Context, c liveClient) (*runtime.PromptResult, error) { return c.ev.SimplePrompt(ctx) }),
			"prompt args-prompt city=Łódź": prompt(func(ctx context.Context, c liveClient) (*runtime.PromptResult, error) {
				return c.ev.ArgsPrompt(ctx, everything.ArgsPromptParams{City: "Łódź"})
			}),
			"prompt completable-prompt department=Sales name=David": prompt(func(ctx context.Context, c liveClient) (*runtime.PromptResult, error) {
				return c.ev.CompletablePrompt(ctx, everything.CompletablePromptParams{Department: "Sales", Name: "David"})
			}),
			"prompt resource-prompt resourceType=Text resourceId=1": prompt(func(ctx context.Context, c liveClient) (*runtime.PromptResult, error) {
				return c.ev.ResourcePrompt(ctx, everything.ResourcePromptParams{ResourceType: "Text", ResourceID: "1"})
			}).but(clock),
			"read demo://resource/static/document/architecture.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadArchitecture(ctx)
			}),
			"read demo://resource/static/document/extension.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadExtension(ctx)
			}),
			"read demo://resource/static/document/features.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadFeatures(ctx)
			}),
			"read demo://resource/static/document/how-it-works.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadHowItWorks(ctx)
			}),
			"read demo://resource/static/document/instructions.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadInstructions(ctx)
			}),
			"read demo://resource/static/document/startup.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) { return c.ev.ReadStartup(ctx) }),
			"read demo://resource/static/document/structure.md": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadStructure(ctx)
			}),
			"read demo://resource/dynamic/text/7": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadDynamicText(ctx, everything.DynamicTextURI{ResourceID: "7"})
			}).but(clock),
			"read demo://resource/dynamic/blob/7": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.ev.ReadDynamicBlob(ctx, everything.DynamicBlobURI{ResourceID: "7"})
			}).but(`"blob":"[^"]*"`), // which has the time of day, too
		},
		"filesystem": {
			"call directory_tree": typed(func(ctx context.Context, c liveClient) (*filesystem.DirectoryTreeResult, error) {
				return c.fs.DirectoryTree(ctx, filesystem.DirectoryTreeParams{Path: dir, ExcludePatterns: []string{"*.png"}})
			}, func(r *filesystem.DirectoryTreeResult) *runtime.ToolResult { return r.Raw }),
			"call get_file_info": typed(func(ctx context.Context, c liveClient) (*filesystem.GetFileInfoResult, error) {
				return c.fs.GetFileInfo(ctx, filesystem.GetFileInfoParams{Path: file("a.txt")})
			}, func(r *filesystem.GetFileInfoResult) *runtime.ToolResult { return r.Raw }).but(`accessed: [^\\]*`), // reading it is an access
			"call list_allowed_directories": typed(func(ctx context.Context, c liveClient) (*filesystem.ListAllowedDirectoriesResult, error) {
				return c.fs.ListAllowedDirectories(ctx)
			}, func(r *filesystem.ListAllowedDirectoriesResult) *runtime.ToolResult { return r.Raw }),
			"call list_directory": typed(func(ctx context.Context, c liveClient) (*filesystem.ListDirectoryResult, error) {
				return c.fs.ListDirectory(ctx, filesystem.ListDirectoryParams{Path: dir})
			}, func(r *filesystem.ListDirectoryResult) *runtime.ToolResult { return r.Raw }),
			"call list_directory_with_sizes": typed(func(ctx context.Context, c liveClient) (*filesystem.ListDirectoryWithSizesResult, error) {
				return c.fs.ListDirectoryWithSizes(ctx, filesystem.ListDirectoryWithSizesParams{Path: dir, SortBy: new(filesystem.ListDirectoryWithSizesSortBySize)})
			}, func(r *filesystem.ListDirectoryWithSizesResult) *runtime.ToolResult { return r.Raw }),
			"call read_file": typed(func(ctx context.Context, c liveClient) (*filesystem.ReadFileResult, error) {
				return c.fs.ReadFile(ctx, filesystem.ReadFileParams{Path: file("a.txt")})
			}, func(r *filesystem.ReadFileResult) *runtime.ToolResult { return r.Raw }),
			"call read_media_file": typed(func(ctx context.Context, c liveClient) (*filesystem.ReadMediaFileResult, error) {
				return c.fs.ReadMediaFile(ctx, filesystem.ReadMediaFileParams{Path: file("p.png")})
			}, func(r *filesystem.ReadMediaFileResult) *runtime.ToolResult { return r.Raw }),
			"call read_multiple_files": typed(func(ctx context.Context, c liveClient) (*filesystem.ReadMultipleFilesResult, error) {
				return c.fs.ReadMultipleFiles(ctx, filesystem.ReadMultipleFilesParams{Paths: []string{file("a.txt"), file("sub/b.txt"), file("missing")}})
			}, func(r *filesystem.ReadMultipleFilesResult) *runtime.ToolResult { return r.Raw }),
			"call read_text_file": typed(func(ctx context.Context, c liveClient) (*filesystem.ReadTextFileResult, error) {
				return c.fs.ReadTextFile(ctx, filesystem.ReadTextFileParams{Path: file("a.txt"), Head: new(2.0)})
			}, func(r *filesystem.ReadTextFileResult) *runtime.ToolResult { return r.Raw }),
			"call search_files": typed(func(ctx context.Context, c liveClient) (*filesystem.SearchFilesResult, error) {
				return c.fs.SearchFiles(ctx, filesystem.SearchFilesParams{Path: dir, Pattern: "**/*.txt", ExcludePatterns: []string{"a*"}})
			}, func(r *filesystem.SearchFilesResult) *runtime.ToolResult { return r.Raw }),
		},
		"memory": {
			"call open_nodes": typed(func(ctx context.Context, c liveClient) (*memory.OpenNodesResult, error) {
				return c.mem.OpenNodes(ctx, memory.OpenNodesParams{Names: []string{"Ada", "nobody"}})
			}, func(r *memory.OpenNodesResult) *runtime.ToolResult { return r.Raw }),
			"call read_graph": typed(func(ctx context.Context, c liveClient) (*memory.ReadGraphResult, error) {
				return c.mem.ReadGraph(ctx)
			}, func(r *memory.ReadGraphResult) *runtime.ToolResult { return r.Raw }),
			"call search_nodes": typed(func(ctx context.Context, c liveClient) (*memory.SearchNodesResult, error) {
				return c.mem.SearchNodes(ctx, memory.SearchNodesParams{Query: "engine"})
			}, func(r *memory.SearchNodesResult) *runtime.ToolResult { return r.Raw }),
			"read memory://knowledge-graph": resource(func(ctx context.Context, c liveClient) (*runtime.ResourceResult, error) {
				return c.mem.ReadKnowledgeGraph(ctx)
			}),
		},
	}
}

// TestGeneratedLive: what the committed clients get from the real servers is
// what `mcpctl … --json` prints, in every call that only reads, over a session;
// the lists without one, which leaves out what it does not offer; the typed
// result is all of the structured content; and the servers' tools are those
// that the clients were generated from.
func TestGeneratedLive(t *testing.T) {
	t.Parallel()
	dir := liveFiles(t)
	config := liveConfig(t, dir)
	liveRun(wait.Context(t), t, config, "session", "everything", "filesystem", "memory") // else each command starts its server
	t.Cleanup(func() { liveRun(context.WithoutCancel(t.Context()), t, config, "session", "stop") })
	for server, calls := range liveCalls(dir) {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			ctx := wait.Context(t)
			c := liveConnect(ctx, t, config, server)
			missing := liveOffers(ctx, t, c, config, server)
			for words, call := range calls {
				verb, rest, _ := strings.Cut(words, " ")
				what := strings.Fields(rest)
				delete(missing, verb+" "+what[0])
				for offered := range missing { // the template of a URI
					if expanded(offered, words) {
						delete(missing, offered)
					}
				}
				*c.args = nil
				raw, typed, err := call.does(ctx, c)
				if err != nil {
					t.Errorf("%s: %v", words, err)
					continue
				}
				if typed != nil {
					sameStructured(t, words, raw, typed)
				}
				argv := append([]string{verb, server}, what...)
				if *c.args != nil {
					argv = append(argv, string(*c.args))
				}
				printed := liveRun(ctx, t, config, append(argv, "--json")...)
				got, want := canonicalBut(t, raw, call.varies), canonicalBut(t, printed, call.varies)
				if got != want {
					t.Errorf("%s: got\n%s\nmcpctl prints\n%s", words, got, want)
				}
			}
			for offered := range missing {
				t.Errorf("no row for %q", offered)
			}
		})
	}
}

// liveFiles is what the servers work on.
func liveFiles(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	for name, text := range map[string]string{"a.txt": "one\ntwo\nthrée\n", "sub/b.txt": "", "p.png": "\x89PNG\r\n\x1a\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// liveConfig is a servers.json with the three servers.
func liveConfig(t *testing.T, dir string) string {
	t.Helper()
	home := t.TempDir()
	graph := filepath.Join(home, "memory.jsonl")
	const lines = `{"type":"entity","name":"Ada","entityType":"person","observations":["wrote for the engine"]}` + "\n" +
		`{"type":"entity","name":"Engine","entityType":"machine","observations":[]}` + "\n" +
		`{"type":"relation","from":"Ada","to":"Engine","relationType":"programmed"}` + "\n"
	require.NoError(t, os.WriteFile(graph, []byte(lines), 0o600))
	entry := func(env map[string]string, words []string) map[string]any {
		return map[string]any{"command": words[0], "args": words[1:], "env": env}
	}
	b, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"everything": entry(map[string]string{"LIVE": "é"}, npmtest.Server(t, "everything", "stdio")),
		"filesystem": entry(map[string]string{}, npmtest.Server(t, "filesystem", dir)),
		"memory":     entry(map[string]string{"MEMORY_FILE_PATH": graph}, npmtest.Server(t, "memory")),
	}})
	require.NoError(t, err)
	path := filepath.Join(home, "servers.json")
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

func liveConnect(ctx context.Context, t *testing.T, config, server string) liveClient {
	t.Helper()
	conn, err := dial.Server(ctx, server, dial.Options{Grace: 20 * time.Millisecond, Lookup: func(name string) (string, bool) {
		if name == "MCPCTL_CONFIG" {
			return config, true
		}
		return os.LookupEnv(name)
	}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	c := liveClient{Client: conn, args: new(json.RawMessage)}
	drift := runtime.WithDrift(runtime.DriftFail, nil)
	c.ev, c.fs, c.mem = everything.New(c, drift), filesystem.New(c, drift), memory.New(c, drift)
	return c
}

// liveOffers is what a server has that only reads, as the command line calls
// it, asked for by the iterators of a generated client. They give what mcpctl
// prints.
func liveOffers(ctx context.Context, t *testing.T, c liveClient, config, server string) map[string]bool {
	t.Helper()
	offers := map[string]bool{}
	// Whichever client: the connection decides.
	same := func(key string, raws []json.RawMessage, words ...string) {
		b, err := json.Marshal(map[string]any{key: raws})
		require.NoError(t, err)
		printed := liveRun(ctx, t, config, append(append(words[:1:1], server), append(words[1:], "--json", "--no-session")...)...)
		if got, want := canonicalBut(t, b, ""), canonicalBut(t, printed, ""); got != want {
			t.Errorf("%v: got\n%s\nmcpctl prints\n%s", words, got, want)
		}
	}
	raws := []json.RawMessage{}
	for v, err := range c.ev.Tools(ctx) {
		require.NoError(t, err)
		raws = append(raws, v.Raw)
		if v.Annotations != nil && v.Annotations.ReadOnlyHint != nil && *v.Annotations.ReadOnlyHint {
			offers["call "+v.Name] = true
		}
	}
	same("tools", raws, "tools")
	if c.Info().Has("prompts") {
		raws = raws[:0]
		for v, err := range c.fs.Prompts(ctx) {
			require.NoError(t, err)
			raws = append(raws, v.Raw)
			offers["prompt "+v.Name] = true
		}
		same("prompts", raws, "prompts")
	}
	if !c.Info().Has("resources") {
		return offers
	}
	raws = raws[:0]
	for v, err := range c.mem.Resources(ctx) {
		require.NoError(t, err)
		raws = append(raws, v.Raw)
		offers["read "+v.URI] = true
	}
	same("resources", raws, "resources")
	raws = raws[:0]
	for v, err := range c.ev.ResourceTemplates(ctx) {
		require.NoError(t, err)
		raws = append(raws, v.Raw)
		offers["read "+v.URITemplate] = true
	}
	same("resourceTemplates", raws, "resources", "--templates")
	return offers
}

// expanded reports whether a URI may come from a template with one simple
// variable.
func expanded(template, uri string) bool {
	before, rest, ok := strings.Cut(template, "{")
	_, after, closed := strings.Cut(rest, "}")
	return ok && closed && strings.HasPrefix(uri, before) && strings.HasSuffix(uri, after)
}

func liveRun(ctx context.Context, t *testing.T, config string, argv ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, "mcpctl", append([]string{"--config", config}, argv...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("mcpctl %q: %v: %s", argv, err, errs.Bytes())
	}
	return out.Bytes()
}

// sameStructured: a typed result has all of the structured content.
func sameStructured(t *testing.T, words string, raw json.RawMessage, typed any) {
	t.Helper()
	r, err := runtime.ParseToolResult(raw)
	require.NoError(t, err)
	b, err := json.Marshal(typed)
	if err != nil {
		t.Errorf("%s: %v", words, err)
		return
	}
	if got, want := canonicalBut(t, b, ""), canonicalBut(t, r.Structured, ""); got != want {
		t.Errorf("%s: typed\n%s\nstructured\n%s", words, got, want)
	}
}

// guardMark is the variable by which mcpctl finds what a server has started. A server of a
// generated client has none.
const guardMark = `(,\\n  )?\\"MCPCTL_GUARD\\": \\"[^"\\]*\\"`

func canonicalBut(t *testing.T, raw []byte, varies string) string {
	t.Helper()
	b, err := codegen.Canonical(raw)
	if err != nil {
		t.Errorf("%v: %s", err, raw)
	}
	if varies == "" {
		return string(b)
	}
	return regexp.MustCompile(varies).ReplaceAllString(string(b), "")
}
