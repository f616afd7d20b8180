package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// synthetic makes the tools/list result of a server that does not exist:
// n tools with about 5 KB of schemas each, in the shapes that real servers
// have (most properties documented, half of them nullable or optional, enums,
// closed objects, lists of objects, here and there a union, a definition that
// contains itself, or a keyword that cannot be typed). The same n returns the
// same bytes.
func synthetic(n int) []byte {
	r := &inventor{rand.New(rand.NewPCG(7, 7))}
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name := fmt.Sprintf("%s_%s_%04d", r.word(), r.word(), i)
		text, err := json.Marshal(map[string]any{
			"name":         name,
			"description":  r.sentence(30),
			"annotations":  map[string]any{"readOnlyHint": i%3 == 0, "destructiveHint": i%7 == 0},
			"inputSchema":  r.root(12, 2600),
			"outputSchema": r.root(9, 2000),
		})
		if err != nil {
			panic("codegen: " + err.Error())
		}
		b.Write(text)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

type inventor struct {
	*rand.Rand
}

func words() []string {
	return strings.Fields(`account address amount archive article asset author backup balance batch board branch bucket build cache
		calendar campaign category channel chart checkout cluster comment commit company contact container contract
		country coupon credential currency customer dashboard database dataset delivery device discount document domain
		employee endpoint entity environment event expense export feature field file filter folder form gateway graph
		group history image import incident index inventory invoice issue item job key label language layer ledger
		license limit link list location log mailbox market member merchant message metric milestone model module
		monitor network node note notification object offer order organization owner package page parameter partner
		password payment permission person phone pipeline plan platform policy post price priority process product
		profile project property provider queue quota rate reaction receipt record refund region release report
		repository request resource response result review role room route rule sample schedule schema score scope
		search secret segment server service session setting shipment signal site snapshot source space stage status
		step stock storage stream subscription summary supplier table tag target task team template tenant test thread
		ticket timeline token topic total track transaction trigger type unit update upload usage user value variant
		vendor version video view volume wallet warehouse webhook window workflow workspace zone`)
}

func (r *inventor) word() string {
	w := words()
	return w[r.IntN(len(w))]
}

func (r *inventor) sentence(length int) string {
	parts := make([]string, length)
	for i := range parts {
		parts[i] = r.word()
	}
	return strings.ToUpper(parts[0][:1]) + strings.Join(parts, " ")[1:] + "."
}

// root is an object of about the given number of bytes.
func (r *inventor) root(members, size int) map[string]any {
	o := r.object(members, 0)
	if r.IntN(4) == 0 {
		node := r.object(3, 2)
		node["properties"].(map[string]any)["children"] = map[string]any{
			"type": "array", "description": r.sentence(6), "items": map[string]any{"$ref": "#/$defs/node"},
		}
		o["$defs"] = map[string]any{"node": node}
		o["properties"].(map[string]any)["tree"] = map[string]any{"$ref": "#/$defs/node"}
	}
	if r.IntN(20) == 0 {
		o["dependentRequired"] = map[string]any{r.word(): []string{r.word()}}
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic("codegen: " + err.Error())
	}
	for missing := size - len(text); missing > 40; {
		p := map[string]any{"type": "string", "description": r.sentence(min(missing/8, 30))}
		name := r.word() + "_" + r.word()
		o["properties"].(map[string]any)[name] = p
		text, _ := json.Marshal(p)
		missing -= len(text) + len(name) + 4
	}
	return o
}

func (r *inventor) object(members, depth int) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for range members {
		name := r.word()
		if r.IntN(2) == 0 {
			name += []string{"Id", "Name", "_count", "_url", "-at"}[r.IntN(5)]
		}
		if _, twice := properties[name]; !twice && r.IntN(2) == 0 {
			required = append(required, name)
		}
		properties[name] = r.schema(depth)
	}
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	if r.IntN(2) == 0 {
		o["additionalProperties"] = false
	}
	return o
}

func (r *inventor) schema(depth int) map[string]any {
	s := map[string]any{}
	switch n := r.IntN(24); {
	case n < 8:
		s["type"] = "string"
		if n == 0 {
			s["minLength"] = 1
		}
	case n < 10:
		var values []string
		for range 3 + r.IntN(4) {
			values = append(values, fmt.Sprintf("%s_%d", r.word(), r.IntN(100)))
		}
		s["type"], s["enum"] = "string", values
	case n < 13:
		s["type"], s["minimum"], s["maximum"], s["default"] = "number", 1, 100, 30
	case n < 15:
		s["type"] = "integer"
	case n < 17:
		s["type"] = "boolean"
	case n < 18:
		s["anyOf"] = []any{map[string]any{"type": "string"}, map[string]any{"type": "null"}}
	case n < 19:
		s["type"], s["format"] = "string", "date-time"
	case n < 20:
		s["anyOf"] = []any{map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}
	case n < 22 || depth > 1:
		s["type"], s["items"] = "array", map[string]any{"type": "string"}
	case n < 23:
		s["type"], s["items"] = "array", r.object(3, depth+1)
	default:
		s = r.object(4, depth+1)
	}
	s["description"] = r.sentence(8)
	return s
}
