package rules

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

const exampleWhen = "as in when: {args.path: {under: /etc}}"

// condition is one test of an argument: in Cedar, and in words.
type condition struct{ cedar, words string }

// operators are the tests, in the order in which they are named to people.
func operators() []string {
	return []string{"eq", "in", "like", "under", "host", "lt", "le", "gt", "ge"}
}

// conditions reads when: tests of arguments that must all hold.
func (s *Section) conditions(r *rule, n *yaml.Node) error {
	if n == nil {
		return nil
	}
	if _, err := s.mapping(n, r.id+".when", nil, exampleWhen); err != nil {
		return err
	}
	if len(n.Content) == 0 {
		return s.fault(n, r.id+".when is empty", exampleWhen)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], behind(n.Content[i+1])
		names := strings.Split(k.Value, ".")
		if len(names) < 2 || names[0] != "args" || slices.Contains(names, "") || hasControl(k.Value) {
			return s.fault(k, fmt.Sprintf("%q does not name an argument", k.Value), exampleWhen)
		}
		tests, err := s.mapping(v, k.Value, operators(), exampleWhen)
		if err != nil {
			return err
		}
		if len(tests) == 0 {
			return s.fault(v, k.Value+" is not tested", exampleWhen)
		}
		for _, op := range operators() {
			if tests[op] == nil {
				continue
			}
			c, err := s.test(names[1:], op, tests[op])
			if err != nil {
				return err
			}
			r.conditions = append(r.conditions, c)
		}
	}
	return nil
}

// test writes one test.
func (rd reader) test(name []string, op string, n *yaml.Node) (c condition, err error) {
	a := argument{from: "context.args", path: name}
	shown := "args." + strings.Join(name, ".")
	var alternatives []string
	switch op {
	case "eq", "in":
		items := []*yaml.Node{n}
		if op == "in" {
			if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
				return c, rd.fault(n, shown+".in is no list", "as in in: [open, closed]")
			}
			items = n.Content
		}
		kind, values := "", []string(nil)
		for _, i := range items {
			text, itemKind, err := rd.value(shown+"."+op, behind(i))
			if err != nil {
				return c, err
			}
			if kind != "" && kind != itemKind {
				return c, rd.fault(i, shown+".in has values of two types", "write texts in quotes; numbers either all with a point or all without")
			}
			kind, values = itemKind, append(values, text)
		}
		if op == "eq" {
			alternatives = []string{a.String() + " == " + values[0]}
		} else {
			alternatives = []string{"[" + strings.Join(values, ", ") + "].contains(" + a.String() + ")"}
		}
	case "lt", "le", "gt", "ge":
		text, kind, err := rd.value(shown+"."+op, n)
		if err != nil {
			return c, err
		}
		switch kind {
		case "integer":
			alternatives = []string{a.String() + map[string]string{"lt": " < ", "le": " <= ", "gt": " > ", "ge": " >= "}[op] + text}
		case "number":
			alternatives = []string{a.String() + "." + map[string]string{"lt": "lessThan", "le": "lessThanOrEqual", "gt": "greaterThan", "ge": "greaterThanOrEqual"}[op] + "(" + text + ")"}
		default:
			return c, rd.fault(n, shown+"."+op+" is no number", "as in "+op+": 100, or 100.0 for an argument of type number")
		}
	default:
		items, err := rd.list(shown+"."+op, n, exampleWhen)
		if err == nil && len(items) == 0 {
			err = rd.fault(n, shown+"."+op+" is empty", exampleWhen)
		}
		if err != nil {
			return c, err
		}
		switch op {
		case "under":
			a.from = "context.clean"
		case "host":
			a.from = "context.host"
		}
		for _, i := range items {
			tests, why := texts(op, a.String(), i.Value)
			if why != "" {
				return c, rd.fault(i, shown+"."+op+" "+why, map[string]string{
					"under": "write a full path without . and .., as in under: /etc", "host": `write a host alone, as in host: [example.com, "*.example.com"]`,
				}[op])
			}
			alternatives = append(alternatives, tests...)
		}
	}
	c.cedar = a.present() + " && " + alternatives[0]
	if len(alternatives) > 1 {
		c.cedar = a.present() + " && (" + strings.Join(alternatives, " || ") + ")"
	}
	c.words = shown + " " + op + " " + written(n)
	return c, nil
}

// written returns a value or a list of them as they are in the file.
func written(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return n.Value
	}
	var all []string
	for _, i := range n.Content {
		all = append(all, behind(i).Value)
	}
	return strings.Join(all, ", ")
}

// texts writes the tests of a text, one of which must hold.
func texts(op, at, value string) (tests []string, why string) {
	switch op {
	case "like":
		return []string{at + " like " + quote(value)}, ""
	case "under":
		if !strings.HasPrefix(value, "/") || path.Clean(value) != strings.TrimRight(value, "/") && value != "/" || strings.ContainsAny(value, `\%`) {
			return nil, fmt.Sprintf("is %q: want a full, clean path", value)
		}
		if value == "/" {
			return []string{at + ` like "/*"`}, ""
		}
		value = strings.TrimRight(value, "/")
		return []string{at + " == " + quote(value), at + ` like "` + literal(value) + `/*"`}, ""
	}
	host, below := strings.CutPrefix(value, "*.")
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && !below {
		return []string{at + " == " + quote(ip.Unmap().String())}, ""
	}
	if !hostName().MatchString(host) {
		return nil, fmt.Sprintf("is %q: want a host name or an address", value)
	}
	if below {
		return []string{at + " like " + quote("*."+host)}, ""
	}
	return []string{at + " == " + quote(host)}, ""
}

var (
	hostName = lazy.Regexp(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)
	integer  = lazy.Regexp(`^-?(0|[1-9][0-9]*)$`)
	fraction = lazy.Regexp(`^-?(0|[1-9][0-9]{0,14})\.[0-9]{1,4}$`)
)

// value writes a value as Cedar has it, and says of which type it is.
func (rd reader) value(name string, n *yaml.Node) (text, kind string, err error) {
	const remedy = "write a text, true or false, a whole number, or one with at most four places such as 0.5"
	if n.Kind != yaml.ScalarNode || isNull(n) || hasControl(n.Value) {
		return "", "", rd.fault(n, name+" has a value that is no text, number or boolean", remedy)
	}
	switch n.Tag {
	case "!!bool":
		return strconv.FormatBool(strings.EqualFold(n.Value, "true")), "boolean", nil
	case "!!int":
		if _, err := strconv.ParseInt(n.Value, 10, 64); err != nil || !integer().MatchString(n.Value) {
			return "", "", rd.fault(n, fmt.Sprintf("%s is %s, which cannot be compared exactly", name, n.Value), remedy)
		}
		return n.Value, "integer", nil
	case "!!float":
		if !fraction().MatchString(n.Value) {
			return "", "", rd.fault(n, fmt.Sprintf("%s is %s, which cannot be compared exactly", name, n.Value), remedy)
		}
		return "decimal(" + quote(n.Value) + ")", "number", nil
	}
	return quote(n.Value), "text", nil
}
