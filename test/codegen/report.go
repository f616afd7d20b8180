package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/test/codegen/suite"
)

// report is all that was found out.
type report struct {
	Machine      string
	Load         float64 // of the machine when times were measured, its own work left out
	Rounds       int
	SuiteVersion string
	Staticcheck  string
	Suite        []judged
	Bakeoff      []outcome
	Corpus       []corpusServer
	Collected    []corpusServer // see collectedServers; none where they were not at hand
	Peers        []peerReport
	Scale        []scaled
	Calls        []callCost
}

// peerReport is the same of another generator.
type peerReport struct {
	Name, Version string
	Suite         []judged
	Bakeoff       []outcome
	Corpus        fields
}

// fields counts those that stand for members, over all servers. Failed are the
// schemas for which there is no code, or none that Go parses.
type fields struct {
	Schemas, Failed, Fields, Untyped int
}

// thisMachine is what the times were measured on.
func thisMachine() string {
	cpu := goruntime.GOARCH
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if k, v, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	return fmt.Sprintf("%d cores of %s, %s/%s, %s", goruntime.NumCPU(), cpu, goruntime.GOOS, goruntime.GOARCH, goruntime.Version())
}

// loadAverage is the load of the last minute; 0 where the system does not tell.
func loadAverage() float64 {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}

// missed are the bounds that were not held.
func (r *report) missed() []string {
	var out []string
	say := func(bad bool, format string, a ...any) {
		if bad {
			out = append(out, fmt.Sprintf(format, a...))
		}
	}
	for _, j := range r.Suite {
		say(j.Tally.NoCode > 0, "%s, %s: %d groups have no type", j.Draft, j.Place, j.Tally.NoCode)
		for _, f := range j.Failures {
			say(true, "%s", f)
		}
	}
	for _, o := range r.Bakeoff {
		for _, f := range o.Failures {
			say(true, "%s", f)
		}
	}
	total := r.ours()
	for _, c := range slices.Concat(r.Corpus, r.Collected) {
		say(c.Compile != "", "%s does not compile: %s", c.Name, c.Compile)
		say(c.Vet != "", "go vet %s: %s", c.Name, c.Vet)
		say(c.Staticcheck != "", "staticcheck %s: %s", c.Name, c.Staticcheck)
		say(len(c.Unformatted) > 0, "gofmt %s: %q", c.Name, c.Unformatted)
		say(len(c.Undocumented) > 0, "%s: not documented: %q", c.Name, c.Undocumented)
	}
	say(total.Untyped*100 > total.Fields, "%d of %d fields are untyped", total.Untyped, total.Fields)
	for _, m := range r.Scale {
		say(m.Generate > scaleTime, "%d tools: generated in %s", m.Tools, m.Generate)
		say(m.Memory > scaleMemory, "%d tools: %d MB", m.Tools, m.Memory>>20)
	}
	for _, c := range r.Calls {
		say(c.Allocs > c.Hand+callAllocs, "a call of %s makes %d allocations, %d by hand", c.Tool, c.Allocs, c.Hand)
		say(c.Ratio > callRatio, "a call of %s takes %.2f times as long as by hand", c.Tool, c.Ratio)
	}
	if n := len(r.Scale); n > 1 {
		first, last := r.Scale[0], r.Scale[n-1]
		growth := last.CompileCPU.Seconds() / float64(last.Tools) / (first.CompileCPU.Seconds() / float64(first.Tools))
		say(growth > linear, "%d tools take %.2f times as long to compile a tool as %d do", last.Tools, growth, first.Tools)
	}
	return out
}

// linear is how many times as long a tool may take to compile among the most
// tools as among the fewest.
const linear = 1.3

// ours sums the fields of the corpus.
func (r *report) ours() fields {
	var f fields
	for _, c := range r.Corpus {
		f.Schemas += c.Schemas
		f.Fields += c.Fields
		f.Untyped += len(c.Untyped)
	}
	return f
}

// page writes test/reports/generate.md.
func (r *report) page() string {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	p("# Generated clients, compared\n")
	p("`make codegen-report` writes this page in a few minutes. The parts that need no other generator are also in `make test`.")
	p("")
	p("The JSON Schema test suite, schemas of real servers and reviewers' tools judge what [mcpctl generate](../../docs/generate.md) writes. Two other")
	p("generators get the same input: [go-jsonschema](https://github.com/atombender/go-jsonschema) and [quicktype](https://quicktype.io). They")
	p("only make types, and do not promise validation. Their figures show what the choice of a generator decides, not that they are bad.\n")
	r.suitePage(p)
	r.bakeoffPage(p)
	r.corpusPage(p)
	r.scalePage(p)
	r.callPage(p)
	r.exceptionsPage(p)
	return b.String()
}

type printer func(format string, a ...any)

func (r *report) suitePage(p printer) {
	p("## The JSON Schema test suite\n")
	cases := map[suite.Draft]tally{}
	for _, j := range r.Suite {
		cases[j.Draft] = j.Tally
	}
	for _, d := range suite.Drafts() {
		t := cases[d]
		p("- %s: %d groups, %d cases (%d valid, %d invalid)", d, t.Groups, t.Valid+t.Invalid+t.Excepted, t.Valid, t.Invalid+t.Excepted)
	}
	p("\nThese are all required tests of both drafts, with the `$ref` groups, from the Go module `%s` %s.", suite.Module, r.SuiteVersion)
	p("Each group's schema becomes that of the member `v` in an object, `{\"type\":\"object\",\"properties\":{\"v\":…}}`, which declares the")
	p("dialect. `$defs` and `definitions` move to the object, other references are adjusted, and schemas with an `$id` are not")
	p("changed. runtime/schema gives each wrapped case the suite's verdict (`TestWrap`).")
	p("")
	p("The object is the input schema of one tool with a required `v`, the input schema of another with an optional `v`, and an output schema.")
	p("All are generated, compiled into one program, and given every case.")
	p("")
	p("*Accepted*: decodes, and `Validate` agrees. *Round-tripped*: encodes to an equal value, with exact numbers. *Rejected*: by decoding or")
	p("by `Validate`. *Raw*: groups whose member is typed as any JSON. Many schemas of the suite have no type.\n")
	r.suiteTable(p, "", func(j judged) tally { return j.Tally })
	p("\nWithout the groups that use `$ref`, `$id`, `$anchor` or `$dynamicRef`:\n")
	r.suiteTable(p, "", func(j judged) tally { return j.Plain })
	p("")
}

func (r *report) suiteTable(p printer, _ string, of func(judged) tally) {
	p("| draft | generator | groups without code | that do not compile | valid accepted | round-tripped | invalid rejected | raw |")
	p("|---|---|---|---|---|---|---|---|")
	for _, d := range suite.Drafts() {
		row := func(name string, t tally) {
			p("| %s | %s | %d | %d | %s | %s | %s | %s |", d, name, t.NoCode, t.NoCompile, share(t.Accepted, t.Valid), share(t.RoundTripped, t.Valid),
				share(t.Rejected, t.Invalid), share(t.Raw, t.Groups))
		}
		for _, j := range r.Suite {
			if j.Draft == d {
				row("**mcpctl**, "+j.Place, of(j))
			}
		}
		for _, g := range r.Peers {
			for _, j := range g.Suite {
				if j.Draft == d {
					row(g.Name+" "+g.Version, of(j))
				}
			}
		}
	}
}

func (r *report) bakeoffPage(p printer) {
	p("## Ten schemas of real servers\n")
	p("The schemas are in the form that servers have, with 31 valid and 32 invalid values")
	p("([bakeoff.json](../codegen/testdata/bakeoff.json)). Two independent validators gave the verdicts. A cell has the valid values")
	p("accepted and round-tripped, and the invalid ones rejected.\n")
	head, line := "| schema | mcpctl |", "|---|---|"
	for _, g := range r.Peers {
		head += " " + g.Name + " |"
		line += "---|"
	}
	p("%s", head)
	p("%s", line)
	cell := func(t tally) string {
		if t.NoCode > 0 {
			return "no code"
		}
		return fmt.Sprintf("%d, %d of %d; %d of %d", t.Accepted, t.RoundTripped, t.Valid, t.Rejected, t.Invalid)
	}
	for i, o := range r.Bakeoff {
		cells := []string{o.Contest.What, cell(o.Tally)}
		for _, g := range r.Peers {
			cells = append(cells, cell(g.Bakeoff[i].Tally))
		}
		p("| %s |", strings.Join(cells, " | "))
	}
	total := func(all []outcome) string {
		t := sum(all)
		return fmt.Sprintf("**%d, %d of %d; %d of %d**", t.Accepted, t.RoundTripped, t.Valid, t.Rejected, t.Invalid)
	}
	cells := []string{"**all**", total(r.Bakeoff)}
	for _, g := range r.Peers {
		cells = append(cells, total(g.Bakeoff))
	}
	p("| %s |\n", strings.Join(cells, " | "))
}

func (r *report) corpusPage(p printer) {
	p("## Packages of real servers\n")
	p("These packages are generated with their test doubles, compiled, and checked by `go vet`, %s and gofmt. Each exported", r.Staticcheck)
	p("type, function, method, constant, variable and field must have a comment. Fields represent members or items of JSON. An untyped")
	p("field holds any JSON, as a whole or as elements.\n")
	p("| server | tools | schemas | lines | compiles | vet | staticcheck | gofmt | documented | fields | untyped |")
	p("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range r.Corpus {
		p("| %s | %d | %d | %d | %s | %s | %s | %s | %d of %d | %d | %d |", c.What, c.Tools, c.Schemas, c.Lines, clean(c.Compile == ""), clean(c.Vet == ""),
			clean(c.Staticcheck == ""), clean(len(c.Unformatted) == 0), c.Exported-len(c.Undocumented), c.Exported, c.Fields, len(c.Untyped))
	}
	var left []string
	for _, c := range r.Corpus {
		for _, f := range c.Untyped {
			left = append(left, "`"+c.Name+"."+f+"`")
		}
	}
	total := r.ours()
	p("\nUntyped in total: **%s**. The bound is 1 %%.", share(total.Untyped, total.Fields))
	if len(left) > 0 {
		p("They are %s.", strings.Join(left, ", "))
	}
	for _, g := range r.Peers {
		f := g.Corpus
		p("%s, counted in the same way over the same %d schemas: %s, and no code for %d schemas.", g.Name, f.Schemas, share(f.Untyped, f.Fields), f.Failed)
	}
	if len(r.Collected) > 0 {
		c := together(r.Collected)
		p("\nLiveMCPBench has collected the tools of %d more servers: %d tools with as many schemas of arguments. The packages compile, `go vet`,", len(r.Collected), c.Tools)
		p("staticcheck and gofmt have nothing to say, and %d of %d declarations are documented. %s of their fields are untyped:", c.Exported-len(c.Undocumented), c.Exported, share(len(c.Untyped), c.Fields))
		p("nearly all are objects or values of which the schema says nothing.")
	}
	if !slices.ContainsFunc(r.Corpus, func(c corpusServer) bool { return c.Name == "github" }) {
		p("\nThe tools of github-mcp-server were not at hand in this run.")
	}
	p("")
}

func (r *report) scalePage(p printer) {
	p("## A server of 1,000 tools\n")
	if len(r.Scale) == 0 {
		p("Not measured in this run.\n")
		return
	}
	p("A program invents this server, in the form that real ones have. The table has the best of %d runs of", r.Rounds)
	p("`mcpctl generate --from tools.json`, and `go build` of the package. The bounds are %s and %d MB for the largest server. The", seconds(scaleTime), scaleMemory>>20)
	p("compiler's time must not grow faster than the number of tools. Measured on %s.", r.Machine)
	if cores := float64(goruntime.NumCPU()); r.Load > cores*3/2 {
		p("The machine was busy with other work (load %.0f), so its elapsed times are too long. Compare the processor times.", r.Load)
	}
	p("\n| tools | schemas | generate | processor | memory | files | Go source | compile | processor | processor, a tool |")
	p("|---|---|---|---|---|---|---|---|---|---|")
	for _, m := range r.Scale {
		p("| %d | %.1f MB | %s | %s | %d MB | %d | %.1f MB | %s | %s | %.1f ms |", m.Tools, mega(m.Schemas), seconds(m.Generate), seconds(m.GenerateCPU), m.Memory>>20,
			m.Files, mega(m.Source), seconds(m.Compile), seconds(m.CompileCPU), m.CompileCPU.Seconds()*1000/float64(m.Tools))
	}
	p("")
}

func (r *report) exceptionsPage(p printer) {
	p("## Exceptions\n")
	p("Invalid values of these groups are not rejected. Their valid values are accepted and round-tripped, and counted above. `format` is")
	p("not an exception, because the required tests treat it as an annotation.\n")
	reason := ""
	for _, e := range suite.Exceptions() {
		if e.Reason != reason {
			reason = e.Reason
			p("%s%s:\n", strings.ToUpper(reason[:1]), reason[1:])
		}
		p("- %s, %s", e.Draft, e.Group)
	}
}

func share(n, of int) string {
	if of == 0 {
		return "–"
	}
	percent := fmt.Sprintf("%.1f", 100*float64(n)/float64(of))
	if n != of && percent == "100.0" {
		percent = "99.9"
	}
	return fmt.Sprintf("%s %% (%d of %d)", cmp.Or(strings.TrimSuffix(percent, ".0"), "0"), n, of)
}

func clean(ok bool) string {
	if ok {
		return "yes"
	}
	return "**no**"
}

func mega(n int) float64 { return float64(n) / 1e6 }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
