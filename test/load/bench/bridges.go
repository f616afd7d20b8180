package main

import (
	"context"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/test/load/gen"
)

// bridgeContenders are a server that is called directly, and mcpctl bridge before it.
func (b *bench) bridgeContenders() ([]contender, error) {
	return []contender{
		{"direct", b.overHTTP(gen.Target{}, "", nil, true)},
		{"bridge", b.through(stdioProgram("bridge", b.mcpctl, "bridge"), true)},
	}, nil
}

// stdioProgram offers the server whose URL is its last word over stdio.
func stdioProgram(name string, words ...string) program {
	return program{name: name, start: func(at place) (launch, error) {
		return launch{words: append(slices.Clone(words), at.url)}, nil
	}}
}

// webProgram offers a server over stdio as Streamable HTTP at a port.
func webProgram(name string, words func(port string) []string) program {
	return program{name: name, path: "/mcp", start: func(at place) (launch, error) {
		return launch{words: words(at.port)}, nil
	}}
}

// toRemote and toCommand are other programs that are bridges, in either direction.
func (b *bench) toRemote(in installed) []program {
	return []program{
		stdioProgram("mcp-remote", in.words["mcp-remote"]...),
		stdioProgram("supergateway", append(slices.Clone(in.words["supergateway"]), "--logLevel", "none", "--streamableHttp")...),
		stdioProgram("mcp-proxy", append(slices.Clone(in.words["mcp-proxy"]), "--transport", "streamablehttp")...),
	}
}

func (b *bench) toCommand(in installed) []program {
	back := []string{b.load, "backend"}
	return []program{
		webProgram("supergateway", func(port string) []string {
			return append(slices.Clone(in.words["supergateway"]), "--logLevel", "none", "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--stdio", strings.Join(back, " "))
		}),
		webProgram("mcp-proxy", func(port string) []string {
			return slices.Concat(in.words["mcp-proxy"], []string{"--host", "127.0.0.1", "--port", port, "--"}, back)
		}),
	}
}

// bridges compares mcpctl bridge with other bridges, in both directions.
func (b *bench) bridges(ctx context.Context) error {
	in, err := b.others()
	if err != nil {
		return err
	}
	direct := contender{"direct", b.overHTTP(gen.Target{}, "", nil, true)}
	gateway := webProgram("bridge", func(port string) []string {
		return []string{b.mcpctl, "bridge", "--http", "127.0.0.1:" + port, "--", b.load, "backend"}
	})
	one := func(name string, remote bool, programs ...program) way {
		return way{
			name: name, callers: []int{1, 32}, reference: "direct", ours: []string{"direct", "bridge"},
			contenders: calling(append([]contender{direct}, b.contenders(remote, programs)...)...),
		}
	}
	in.named["direct"], in.named["bridge"] = names["direct"], "mcpctl bridge"
	return b.alongside(ctx, comparison{
		section: "bridges", target: "bench-bridges", ratio: "of direct", called: in.named,
		ways: []way{
			one("stdio → HTTP", true, append([]program{stdioProgram("bridge", b.mcpctl, "bridge")}, b.toRemote(in)...)...),
			one("HTTP → stdio", false, append([]program{gateway}, b.toCommand(in)...)...),
		},
	})
}
