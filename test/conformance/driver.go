package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/test/wire"
)

// drive is what the suite starts as the client: it makes of a scenario's name
// the commands that a person would type. The suite gives the name and the
// revision in the environment, and the server's URL as the last word.
//
// version "auto" leaves the revision to mcpctl.
//
// through is serve or bridge, which is then between a client and the suite, or "".
func drive(ctx context.Context, mcpctl, version, address, through string, log io.Writer) error {
	if version == "" {
		version = os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION")
	}
	home, err := os.MkdirTemp("", "conformance-client")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := wire.Allow(home); err != nil {
		return err
	}
	d := &driver{ctx: ctx, mcpctl: mcpctl, version: version, url: address, home: home, through: through, log: log}
	return d.scenario(os.Getenv("MCP_CONFORMANCE_SCENARIO"))
}

type driver struct {
	ctx                        context.Context //nolint:containedctx // one run of this program
	mcpctl, version, url, home string
	through                    string
	alone                      bool // bridge opens no stream for the server's own messages
	log                        io.Writer
}

// issuer returns the authorization server that the suite's server names, "" for none.
func (d *driver) issuer() string {
	u, err := url.Parse(d.url)
	if err != nil {
		return ""
	}
	for _, path := range []string{u.Path, ""} {
		req, err := http.NewRequestWithContext(d.ctx, http.MethodGet, u.Scheme+"://"+u.Host+"/.well-known/oauth-protected-resource"+path, nil)
		if err != nil {
			return ""
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return ""
		}
		var says struct {
			Issuers []string `json:"authorization_servers"`
		}
		err = json.NewDecoder(resp.Body).Decode(&says)
		_ = resp.Body.Close()
		if err == nil && len(says.Issuers) > 0 {
			return says.Issuers[0]
		}
	}
	return ""
}

func (d *driver) scenario(name string) error {
	if strings.HasPrefix(name, "auth/") {
		return d.login(name)
	}
	switch name {
	case "tools_call":
		return d.do("call", "add_numbers", "a=5", "b=3")
	case "elicitation-sep1034-client-defaults":
		return d.do("call", "test_client_elicitation_defaults", "--elicit", "defaults")
	case "sse-retry":
		// The scenario takes any GET for the one that takes the call's stream up again, and
		// answers the call there: a stream for the server's own messages must not be open.
		d.alone = true
		return d.do("call", "test_reconnection")
	case "sep-2322-client-request-state":
		var errs []error
		for _, tool := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
			errs = append(errs, d.do("call", tool, "--elicit", `{"confirmed":true}`))
		}
		return errors.Join(errs...)
	case "http-standard-headers":
		return d.oneOfEach()
	case "http-custom-headers":
		return d.contextCalls()
	case "http-invalid-tool-headers":
		return d.everyTool("region=us-west1")
	case "json-schema-2020-12-preservation":
		return d.echoSchema("json_schema_2020_12_tool", "json_schema_echo")
	default:
		return d.do("tools")
	}
}

// do runs one command of mcpctl's.
func (d *driver) do(words ...string) error {
	_, err := d.run(words...)
	return err
}

// run runs one command and returns what it prints.
func (d *driver) run(words ...string) ([]byte, error) {
	server := []string{"--url", d.url}
	if d.through != "" {
		bridge := []string{d.through, "--protocol-version", d.version, "-v", d.url}
		if d.alone {
			bridge = append(bridge, "--no-server-stream")
		}
		if err := d.configure("b", map[string]any{"command": d.mcpctl, "args": bridge}); err != nil {
			return nil, err
		}
		server, words = nil, slices.Insert(slices.Clone(words), 1, "b")
	}
	args := slices.Concat(server, []string{"--protocol-version", d.version, "--json", "--timeout", "10s"}, words)
	cmd := exec.CommandContext(d.ctx, d.mcpctl, args...)
	cmd.Env = append(os.Environ(), "MCPCTL_HOME="+d.home, "BROWSER="+os.Args[0]+" -browse")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, d.log
	fmt.Fprintf(d.log, "$ mcpctl %q\n", args)
	err := cmd.Run()
	fmt.Fprintf(d.log, "%s", out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%v: %w", words, err)
	}
	return out.Bytes(), nil
}

// configure writes a configuration with one server.
func (d *driver) configure(name string, entry map[string]any) error {
	file, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: entry}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.home, "servers.json"), file, 0o600)
}

// tool is what the driver reads of a tool.
type tool struct {
	Name        string          `json:"name"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (d *driver) tools() ([]tool, error) {
	out, err := d.run("tools")
	if err != nil {
		return nil, err
	}
	var list struct {
		Tools []tool `json:"tools"`
	}
	return list.Tools, json.Unmarshal(out, &list)
}

// oneOfEach calls the first tool, reads the first resource and gets the first
// prompt.
func (d *driver) oneOfEach() error {
	tools, err := d.tools()
	if err != nil || len(tools) == 0 {
		return fmt.Errorf("tools: got %d, %w", len(tools), err)
	}
	var list struct {
		Resources []struct{ URI string }
		Prompts   []struct{ Name string }
	}
	for _, kind := range []string{"resources", "prompts"} {
		out, err := d.run(kind)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(out, &list); err != nil {
			return err
		}
	}
	if len(list.Resources) == 0 || len(list.Prompts) == 0 {
		return errors.New("the server has no resource or no prompt")
	}
	return errors.Join(
		d.do("call", tools[0].Name),
		d.do("read", list.Resources[0].URI),
		d.do("prompt", list.Prompts[0].Name),
	)
}

// contextCalls makes the calls that the suite asks for.
func (d *driver) contextCalls() error {
	var wanted struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &wanted); err != nil {
		return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	var errs []error
	for _, c := range wanted.ToolCalls {
		errs = append(errs, d.do("call", c.Name, string(c.Arguments)))
	}
	return errors.Join(errs...)
}

// everyTool calls each tool that mcpctl shows.
func (d *driver) everyTool(words ...string) error {
	tools, err := d.tools()
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range tools {
		errs = append(errs, d.do(append([]string{"call", t.Name}, words...)...))
	}
	return errors.Join(errs...)
}

// echoSchema sends a tool's schema back to the server as it was printed.
func (d *driver) echoSchema(of, echo string) error {
	tools, err := d.tools()
	if err != nil {
		return err
	}
	for _, t := range tools {
		if t.Name == of {
			return d.do("call", echo, `{"schema":`+string(t.InputSchema)+`}`)
		}
	}
	return fmt.Errorf("the server has no tool %s", of)
}

// browse follows a page's redirects, as the browser of a person who agrees does: the
// last of them leads to the command that waits.
func browse(ctx context.Context, page string) error {
	ctx, cancel := context.WithTimeout(ctx, scenarioTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// login calls a tool of a server that wants authorization, with what the suite says of
// the client.
func (d *driver) login(name string) error {
	var given struct {
		ID        string `json:"client_id"`
		Secret    string `json:"client_secret"`
		Issuer    string `json:"issuer"`
		Key       string `json:"private_key_pem"`
		Alg       string `json:"signing_algorithm"`
		IDPID     string `json:"idp_client_id"`
		IDPToken  string `json:"idp_id_token"`
		IDPIssuer string `json:"idp_issuer"`
		IDPURL    string `json:"idp_token_endpoint"`
		JWT       string `json:"valid_jwt"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	auth := map[string]any{"callbackPort": 0, "clientMetadataUrl": "https://conformance-test.local/client-metadata.json"}
	switch name {
	case "auth/pre-registration":
		auth["clientId"], auth["clientSecret"] = given.ID, given.Secret
	case "auth/client-credentials-basic":
		auth["grant"], auth["clientId"], auth["clientSecret"] = "client_credentials", given.ID, given.Secret
	case "auth/client-credentials-jwt":
		auth["grant"], auth["clientId"], auth["clientKey"], auth["keyAlg"] = "client_credentials", given.ID, given.Key, given.Alg
	case "auth/enterprise-managed-authorization":
		auth["grant"], auth["clientId"], auth["clientSecret"] = "enterprise", given.ID, given.Secret
		auth["idp"] = map[string]any{"issuer": given.IDPIssuer, "tokenEndpoint": given.IDPURL, "clientId": given.IDPID, "idToken": given.IDPToken}
	case "auth/wif-jwt-bearer":
		auth["grant"], auth["clientId"], auth["assertion"] = "jwt_bearer", given.ID, given.JWT
	}
	if auth["clientSecret"] != nil || auth["assertion"] != nil { // a person who has one knows of whom
		if issuer := d.issuer(); issuer != "" {
			auth["issuer"] = issuer
		}
	}
	auth["dpop"] = strings.HasPrefix(name, "auth/dpop")
	text, err := json.Marshal(auth)
	switch {
	case err != nil:
		return err
	case d.through == "serve":
		if err := d.configure("s", map[string]any{"url": d.url, "auth": auth}); err != nil {
			return err
		}
		return d.callThrough("s__test-tool", "serve", "-v")
	case d.through == "bridge":
		return d.callThrough("test-tool", "bridge", d.url, "--auth", string(text), "-v")
	}
	return d.do("call", "test-tool", "--auth", string(text))
}
