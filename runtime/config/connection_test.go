package config_test

import "testing"

// TestConnection: settings of serve alone do not change it.
func TestConnection(t *testing.T) {
	const entry = `"command":"a","args":["b"],"env":{"A":"${B}"}`
	of := func(entry string) string {
		t.Helper()
		e, ok := parse(t, `{"mcpServers":{"s":{`+entry+`}}}`).Entry("s")
		if !ok {
			t.Fatalf("no entry in %s", entry)
		}
		return e.Connection()
	}
	for _, same := range []string{
		`"args":["b"],"command":"a","type":"stdio","env":{"A":"${B}"}`, entry + `,"start":"eager","idleTimeout":"never","isolation":"session"`,
		entry + `,"wrapUris":true,"requestTimeout":"5s","connectTimeout":"5s","probeTimeout":"5s","shutdownTimeout":"5s","pin":"hold","labels":["a"],"trustAnnotations":true,"origin":{"name":"x"}`,
	} {
		if of(same) != of(entry) {
			t.Errorf("%s: another connection than %s", same, entry)
		}
	}
	for _, other := range []string{
		`"command":"a","args":["b"]`, `"command":"a","args":["c"],"env":{"A":"${B}"}`, `"command":"a","args":["b"],"env":{"A":"${C}"}`,
		entry + `,"cwd":"/"`, entry + `,"strict":true`, entry + `,"maxMessageBytes":100000`, entry + `,"noServerStream":true`, entry + `,"requestIdFormat":"string"`, entry + `,"protocolVersion":"2025-11-25"`, entry + `,"missingEnv":"empty"`, entry + `,"cli":true`, entry + `,"url":"http://x"`,
	} {
		if of(other) == of(entry) {
			t.Errorf("%s: the same connection as %s", other, entry)
		}
	}
}

// TestIdentity: settings of serve do not change it, nor does a secret that somebody has
// written into the file; everything that decides what runs does.
func TestIdentity(t *testing.T) {
	const entry = `"command":"a","args":["b"],"env":{"API_TOKEN":"ghp_0123456789abcdefghijklmnopqrstuvwxyz"}`
	of := func(entry string) string {
		t.Helper()
		e, _ := parse(t, `{"mcpServers":{"s":{`+entry+`}}}`).Entry("s")
		return e.Identity()
	}
	for _, same := range []string{
		entry + `,"pin":"hold","start":"eager","origin":{"name":"x"}`,
		`"args":["b"],"env":{"API_TOKEN":"ghp_zyxwvutsrqponmlkjihgfedcba9876543210"},"command":"a"`,
	} {
		if of(same) != of(entry) {
			t.Errorf("%s: another identity", same)
		}
	}
	for _, other := range []string{`"command":"a","args":["b"]`, `"command":"c","args":["b"]`, entry + `,"cwd":"/"`, entry + `,"cli":true`, `"url":"https://a"`} {
		if of(other) == of(entry) {
			t.Errorf("%s: the same identity", other)
		}
	}
}
