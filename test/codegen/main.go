// Command codegen judges what mcpctl generate writes by what others hold to be
// true, and writes docs/generate-report.md.
//
//	make codegen-report                      all of it, a few minutes on two cores
//	go run ./test/codegen -out -             the same, printed
//
// Four judges: the JSON Schema test suite, every group of two drafts put where
// a tool has its arguments and results; ten schemas of real servers with values
// for them; the packages of real servers, as a reviewer and his tools look at
// them; and a server of 1,000 tools. Other generators are tried with the same.
// It fails where a bound is missed.
//
// What needs no npm is in this command's tests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the `checkout`")
	flag.StringVar(&o.out, "out", "docs/generate-report.md", "the `file` to write; - prints it")
	flag.StringVar(&o.corpus, "corpus", filepath.Join("..", "shared", "schema-corpus"), "`directory` with the tools of github-mcp-server, which are not committed; without it their row is left as it is not")
	flag.Parse()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "codegen:", err)
		stop()
		os.Exit(1)
	}
}

type options struct {
	root, out, corpus string
}

// errMissed is the end of a run in which a bound was missed.
var errMissed = errors.New("not every bound was held")

func (o options) run(ctx context.Context) error {
	r, err := o.judge(ctx)
	if err != nil {
		return err
	}
	page := r.page()
	if o.out == "-" {
		if _, err := fmt.Fprint(os.Stdout, page); err != nil { //nolint:forbidigo // it was asked for
			return err
		}
	} else if err := os.WriteFile(filepath.Join(o.root, filepath.FromSlash(o.out)), []byte(page), 0o644); err != nil { //nolint:gosec // a page for everyone
		return err
	}
	missed := r.missed()
	for _, m := range missed {
		fmt.Fprintln(os.Stderr, "missed:", m)
	}
	if len(missed) > 0 {
		return errMissed
	}
	return nil
}

// judge runs everything, one after the other, so that times are not those of a
// crowd.
func (o options) judge(ctx context.Context) (*report, error) {
	step := func(what string) { fmt.Fprintln(os.Stderr, what+" …") }
	r := &report{Machine: thisMachine()}
	s, err := suite.Open()
	if err != nil {
		return nil, err
	}
	r.SuiteVersion = s.Version
	others, err := peers(ctx, o.root)
	if err != nil {
		return nil, err
	}
	step("the test suite")
	if r.Suite, err = judgeOurs(ctx, s, o.root); err != nil {
		return nil, err
	}
	step("ten schemas")
	if r.Bakeoff, err = bakeoffOurs(ctx, o.root); err != nil {
		return nil, err
	}
	step("real servers")
	servers, err := liveServers(ctx, o.root)
	if err != nil {
		return nil, err
	}
	github, err := githubServer(filepath.Join(o.root, o.corpus))
	if err != nil {
		return nil, err
	}
	if github != nil {
		servers = append(servers, *github)
	}
	check := staticcheckPath(o.root)
	if check == "" {
		return nil, errors.New("staticcheck is not installed: make tools installs it")
	}
	if r.Staticcheck, err = output(ctx, o.root, check, "-version"); err != nil {
		return nil, err
	}
	if r.Corpus, err = judgeCorpus(ctx, o.root, check, servers); err != nil {
		return nil, err
	}
	for _, g := range others {
		step(g.Name)
		p := peerReport{Name: g.Name, Version: g.Version}
		if p.Suite, err = judgePeer(ctx, g, s, o.root); err != nil {
			return nil, err
		}
		if p.Bakeoff, err = bakeoffPeer(ctx, g, o.root); err != nil {
			return nil, err
		}
		if p.Corpus, err = peerFields(ctx, g, o.root, servers); err != nil {
			return nil, err
		}
		r.Peers = append(r.Peers, p)
	}
	step("1,000 tools")
	dir, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // temporary
	product, err := buildProduct(ctx, o.root, dir)
	if err != nil {
		return nil, err
	}
	for _, n := range []int{250, 500, scaleTools} {
		m, err := measureScale(ctx, o.root, product, n, 3, true)
		if err != nil {
			return nil, err
		}
		r.Scale = append(r.Scale, m)
	}
	return r, nil
}

// staticcheckPath is where make tools puts it, "" where nobody has.
func staticcheckPath(root string) string {
	for _, name := range []string{"staticcheck", "staticcheck.exe"} {
		at, err := filepath.Abs(filepath.Join(root, ".bin", name))
		if err != nil {
			return ""
		}
		if _, err := os.Stat(at); err == nil {
			return at
		}
	}
	return ""
}
