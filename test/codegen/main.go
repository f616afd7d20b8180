// Command codegen judges what mcpctl generate writes by what others hold to be
// true, and writes test/reports/generate.md.
//
//	make codegen-report                       all of it, a few minutes on two cores
//	make codegen-report CODEGEN='-only scale' one part again: suite, bakeoff, corpus, peers, scale, calls
//
// Five judges: the JSON Schema test suite, every group of two drafts put where
// a tool has its arguments and results; ten schemas of real servers with values
// for them; the packages of real servers, as a reviewer and his tools look at
// them; a server of 1,000 tools; and what a call costs. Other generators are tried with the same.
// It fails where a bound is missed.
//
// What needs no npm is in this command's tests.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.root, "root", ".", "root of the `checkout`")
	flag.StringVar(&o.out, "out", "test/reports/generate.md", "the `file` to write; - prints it")
	flag.StringVar(&o.corpus, "corpus", filepath.Join("..", "shared", "schema-corpus"), "`directory` with the tools of github-mcp-server, which are not committed; without it they have no row")
	flag.StringVar(&o.state, "state", ".bin/codegen-report.json", "the `file` that keeps what was found out, for -only")
	flag.StringVar(&o.only, "only", "", "judge these `parts` alone, separated by commas, and take the rest from the last run; page judges nothing and writes the page")
	flag.IntVar(&o.rounds, "rounds", 3, "how often each size is generated; the best counts")
	flag.Parse()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "codegen:", err)
		stop()
		os.Exit(1)
	}
}

type options struct {
	root, out, corpus, state, only string
	rounds                         int
}

// errMissed is the end of a run in which a bound was missed.
var errMissed = errors.New("not every bound was held")

// parts are what -only can name, in their order.
func parts() []string { return []string{"suite", "bakeoff", "corpus", "peers", "scale", "calls"} }

func (o options) run(ctx context.Context) error {
	r := &report{}
	state := filepath.Join(o.root, filepath.FromSlash(o.state))
	todo := parts()
	if o.only != "" {
		todo = strings.Split(o.only, ",")
		data, err := os.ReadFile(state)
		if err != nil {
			return fmt.Errorf("%w: there is nothing yet that -only could add to", err)
		}
		if err := json.Unmarshal(data, r); err != nil {
			return fmt.Errorf("read %s: %w", state, err)
		}
	}
	j := &judging{options: o, report: r}
	for _, part := range todo {
		if part == "page" {
			continue
		}
		if !slices.Contains(parts(), part) {
			return fmt.Errorf("-only %s: want some of %s, or page", part, strings.Join(parts(), ","))
		}
		fmt.Fprintln(os.Stderr, part+" …")
		if err := j.part(ctx, part); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		if err := save(state, r); err != nil {
			return err
		}
	}
	page := r.page()
	if o.out == "-" {
		if _, err := fmt.Fprint(os.Stdout, page); err != nil {
			return err
		}
	} else if err := os.WriteFile(filepath.Join(o.root, filepath.FromSlash(o.out)), []byte(page), 0o644); err != nil {
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

// save keeps what was found out, so that one part can be judged again.
func save(path string, r *report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// judging is one run, its parts one after the other, so that times are not
// those of a crowd.
type judging struct {
	options
	*report
	servers []server
}

func (j *judging) part(ctx context.Context, part string) (err error) {
	switch part {
	case "suite":
		s, err := suite.Open()
		if err != nil {
			return err
		}
		j.SuiteVersion = s.Version
		j.Suite, err = checkOurs(ctx, s, j.root)
		return err
	case "bakeoff":
		j.Bakeoff, err = bakeoffOurs(ctx, j.root)
		return err
	case "corpus":
		return j.corpusPart(ctx)
	case "peers":
		return j.peersPart(ctx)
	case "calls":
		j.Calls, err = measureCalls(ctx, j.root)
		return err
	}
	return j.scalePart(ctx)
}

// listed are the real servers, asked once.
func (j *judging) listed(ctx context.Context) ([]server, error) {
	if j.servers != nil {
		return j.servers, nil
	}
	servers, err := liveServers(ctx, j.root)
	if err != nil {
		return nil, err
	}
	github, err := githubServer(filepath.Join(j.root, j.corpus))
	if err != nil {
		return nil, err
	}
	if github != nil {
		servers = append(servers, *github)
	}
	j.servers = servers
	return servers, nil
}

func (j *judging) corpusPart(ctx context.Context) error {
	servers, err := j.listed(ctx)
	if err != nil {
		return err
	}
	check := staticcheckPath(j.root)
	if check == "" {
		return errors.New("staticcheck is not installed: make staticcheck installs it")
	}
	if j.Staticcheck, err = output(ctx, j.root, check, "-version"); err != nil {
		return err
	}
	if j.Corpus, err = checkCorpus(ctx, j.root, check, servers); err != nil {
		return err
	}
	collected, err := collectedServers(filepath.Join(j.root, j.corpus))
	if err != nil || len(collected) == 0 {
		return err
	}
	j.Collected, err = checkCorpus(ctx, j.root, check, collected)
	return err
}

func (j *judging) peersPart(ctx context.Context) error {
	s, err := suite.Open()
	if err != nil {
		return err
	}
	servers, err := j.listed(ctx)
	if err != nil {
		return err
	}
	others, err := peers(ctx, j.root)
	if err != nil {
		return err
	}
	j.Peers = nil
	for _, g := range others {
		p := peerReport{Name: g.Name, Version: g.Version}
		if p.Suite, err = checkPeer(ctx, g, s, j.root); err != nil {
			return err
		}
		if p.Bakeoff, err = bakeoffPeer(ctx, g, j.root); err != nil {
			return err
		}
		if p.Corpus, err = peerFields(ctx, g, j.root, servers); err != nil {
			return err
		}
		for i := range p.Suite {
			p.Suite[i].Failures = nil // counted; nobody reads hundreds of them
		}
		j.Peers = append(j.Peers, p)
	}
	return nil
}

func (j *judging) scalePart(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "mcpctl-codegen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	product, err := buildProduct(ctx, j.root, dir)
	if err != nil {
		return err
	}
	j.Machine, j.Load, j.Rounds, j.Scale = thisMachine(), loadAverage(), j.rounds, nil
	for _, n := range []int{250, 500, scaleTools} {
		m, err := measureScale(ctx, j.root, product, n, j.rounds, true)
		if err != nil {
			return err
		}
		j.Scale = append(j.Scale, m)
	}
	return nil
}

// staticcheckPath is where make staticcheck puts it, "" where nobody has.
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
