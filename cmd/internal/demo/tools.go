package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// newTool returns a tool by its entry in tools/list. Call gets the arguments;
// members that T does not have are refused, as the schemas say. An error becomes
// a result with isError, as the specification wants errors that the caller can
// act on (2025-11-25, Tools, Error Handling).
func newTool[T any](def string, call func(ctx context.Context, c *runtimetest.Call, in T) (any, error)) runtimetest.Tool {
	entry, err := sorted(json.RawMessage(def))
	if err != nil {
		panic("demo: a tool of ours is no JSON: " + err.Error())
	}
	return runtimetest.Tool{Definition: entry, Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		var in T
		d := json.NewDecoder(bytes.NewReader(c.Arguments))
		d.DisallowUnknownFields()
		var res any
		err := d.Decode(&in)
		if err != nil {
			err = fmt.Errorf("invalid arguments: %s", strings.TrimPrefix(err.Error(), "json: "))
		} else {
			res, err = call(ctx, c, in)
		}
		if err != nil {
			failed := text("%s", err)
			failed.IsError = true
			res = failed
		}
		if c.Version == "" {
			return json.Marshal(res)
		}
		return sorted(res)
	}}
}

// sorted returns the JSON of a value with the members of objects in
// alphabetical order, as the documentation shows definitions and results of
// 2026-07-28.
func sorted(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

// result is a tools/call result.
type result struct {
	Content    []content `json:"content"`
	Structured any       `json:"structuredContent,omitempty"`
	IsError    bool      `json:"isError,omitempty"`
}

type content struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

func text(format string, a ...any) result {
	return result{Content: []content{{Type: "text", Text: fmt.Sprintf(format, a...)}}}
}

// structured is a result with an output schema: the object and, for clients
// that know none, the same as text.
func structured(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return result{Content: []content{{Type: "text", Text: string(b)}}, Structured: json.RawMessage(b)}, nil
}

const (
	itemSchema = `{"type":"object","properties":{"sku":{"type":"string"},"name":{"type":"string"},` +
		`"category":{"type":"string","enum":["tool","fastener","timber","finishing"]},` +
		`"quantity":{"type":"integer","description":"pieces in stock"},"priceCents":{"type":"integer"},"shelf":{"type":"string"}},` +
		`"required":["sku","name","category","quantity","priceCents","shelf"]}`
	readOnly = `"annotations":{"readOnlyHint":true,"openWorldHint":false}`
)

func (s *Server) tools() []runtimetest.Tool {
	return []runtimetest.Tool{
		newTool(`{"name":"search_items","title":"Search the stock","description":"Finds items by name or SKU.",`+
			`"inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"part of a name or SKU; empty finds all"},`+
			`"category":{"type":"string","enum":["tool","fastener","timber","finishing"],"description":"only this category"},`+
			`"inStock":{"type":"boolean","default":false,"description":"leave out what has run out"}},"additionalProperties":false},`+
			`"outputSchema":{"type":"object","properties":{"items":{"type":"array","items":`+itemSchema+`}},"required":["items"]},`+readOnly+`}`, s.searchItems),
		newTool(`{"name":"get_item","title":"Look an item up","description":"One item by its SKU.",`+
			`"inputSchema":{"type":"object","properties":{"sku":{"type":"string","description":"such as oak-board"}},"required":["sku"],"additionalProperties":false},`+
			`"outputSchema":`+itemSchema+`,`+readOnly+`}`, s.getItem),
		newTool(`{"name":"place_order","title":"Place an order","description":"Takes items from the stock: every line of the order, or none.",`+
			`"inputSchema":{"type":"object","properties":{"customer":{"type":"object","description":"who orders","properties":{"name":{"type":"string","minLength":1},`+
			`"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}},"required":["city"],"additionalProperties":false}},"required":["name"],"additionalProperties":false},`+
			`"lines":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{"sku":{"type":"string"},"quantity":{"type":"integer","minimum":1,"maximum":1000},`+
			`"note":{"type":"string"}},"required":["sku","quantity"],"additionalProperties":false}},`+
			`"delivery":{"type":"string","enum":["pickup","courier"],"default":"pickup"}},"required":["customer","lines"],"additionalProperties":false},`+
			`"outputSchema":{"type":"object","properties":{"order":{"type":"integer"},"customer":{"type":"string"},"delivery":{"type":"string"},"totalCents":{"type":"integer"}},`+
			`"required":["order","customer","delivery","totalCents"]},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}`, s.placeOrder),
		newTool(`{"name":"count_stock","title":"Count the stock","description":"Goes along the shelves, reports progress and gives the totals.",`+
			`"inputSchema":{"type":"object","properties":{"pauseMs":{"type":"integer","minimum":0,"maximum":1000,"default":20,"description":"time at each item"}},"additionalProperties":false},`+
			`"outputSchema":{"type":"object","properties":{"items":{"type":"integer"},"pieces":{"type":"integer"},"valueCents":{"type":"integer"}},"required":["items","pieces","valueCents"]},`+readOnly+`}`, s.countStock),
		newTool(`{"name":"open_safe","title":"Open the safe","description":"Always fails: nobody knows the combination. Shows how a tool reports an error.",`+
			`"inputSchema":{"type":"object","properties":{"combination":{"type":"string"}},"additionalProperties":false},"annotations":{"readOnlyHint":true}}`, openSafe),
		newTool(`{"name":"draw_shelves","title":"Draw the shelves","description":"The stock as a small PNG bar chart.",`+
			`"inputSchema":{"type":"object","properties":{"scale":{"type":"integer","minimum":1,"maximum":8,"default":2}},"additionalProperties":false},`+readOnly+`}`, s.drawShelves),
		newTool(`{"name":"echo","title":"Echo","description":"Says a message back.",`+
			`"inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"],"additionalProperties":false},`+readOnly+`}`, echo),
	}
}

func (s *Server) searchItems(_ context.Context, _ *runtimetest.Call, in struct {
	Text     string   `json:"text"`
	Category category `json:"category"`
	InStock  bool     `json:"inStock"`
},
) (any, error) {
	if in.Category != "" && !slices.Contains(categories(), in.Category) {
		return nil, fmt.Errorf("invalid arguments: category %q is none of %v", in.Category, categories())
	}
	return structured(map[string]any{"items": s.shop.search(in.Text, in.Category, in.InStock)})
}

func (s *Server) getItem(_ context.Context, _ *runtimetest.Call, in struct {
	SKU string `json:"sku"`
},
) (any, error) {
	it, ok := s.shop.find(in.SKU)
	if !ok {
		return nil, fmt.Errorf("there is no item %q; search_items finds them", in.SKU)
	}
	return structured(it)
}

func (s *Server) placeOrder(_ context.Context, _ *runtimetest.Call, in struct {
	Customer struct {
		Name    string `json:"name"`
		Address *struct {
			Street string `json:"street"`
			City   string `json:"city"`
		} `json:"address"`
	} `json:"customer"`
	Lines    []line `json:"lines"`
	Delivery string `json:"delivery"`
},
) (any, error) {
	switch {
	case in.Customer.Name == "":
		return nil, errors.New("invalid arguments: customer.name is missing")
	case in.Customer.Address != nil && in.Customer.Address.City == "":
		return nil, errors.New("invalid arguments: customer.address.city is missing")
	case len(in.Lines) == 0 || len(in.Lines) > 50:
		return nil, errors.New("invalid arguments: an order has 1 to 50 lines")
	case in.Delivery == "":
		in.Delivery = "pickup"
	case in.Delivery != "pickup" && in.Delivery != "courier":
		return nil, fmt.Errorf("invalid arguments: delivery %q is none of [pickup courier]", in.Delivery)
	}
	for i, l := range in.Lines {
		if l.Quantity < 1 || l.Quantity > 1000 {
			return nil, fmt.Errorf("invalid arguments: lines[%d].quantity is %d, want 1 to 1000", i, l.Quantity)
		}
	}
	number, cents, err := s.shop.order(in.Lines)
	if err != nil {
		return nil, err
	}
	return structured(map[string]any{"order": number, "customer": in.Customer.Name, "delivery": in.Delivery, "totalCents": cents})
}

func (s *Server) countStock(ctx context.Context, c *runtimetest.Call, in struct {
	PauseMS *int `json:"pauseMs"`
},
) (any, error) {
	pause := 20
	if in.PauseMS != nil {
		pause = *in.PauseMS
	}
	if pause < 0 || pause > 1000 {
		return nil, fmt.Errorf("invalid arguments: pauseMs is %d, want 0 to 1000", pause)
	}
	items := s.shop.search("", "", false)
	pieces, value := 0, 0
	for i, it := range items {
		t := time.NewTimer(time.Duration(pause) * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
		pieces += it.Quantity
		value += it.Quantity * it.Price
		c.Progress(float64(i+1), float64(len(items)), "shelf "+it.Shelf+": "+it.Name)
	}
	return structured(map[string]any{"items": len(items), "pieces": pieces, "valueCents": value})
}

func openSafe(_ context.Context, _ *runtimetest.Call, _ struct {
	Combination string `json:"combination"`
},
) (any, error) {
	return nil, errors.New("the safe stays shut: wrong combination")
}

func (s *Server) drawShelves(_ context.Context, _ *runtimetest.Call, in struct {
	Scale *int `json:"scale"`
},
) (any, error) {
	scale := 2
	if in.Scale != nil {
		scale = *in.Scale
	}
	if scale < 1 || scale > 8 {
		return nil, fmt.Errorf("invalid arguments: scale is %d, want 1 to 8", scale)
	}
	b, err := s.shop.shelves(scale)
	if err != nil {
		return nil, err
	}
	return result{Content: []content{
		{Type: "text", Text: "One bar an item, in shelf order."},
		{Type: "image", Data: b, MIMEType: "image/png"},
	}}, nil
}

func echo(_ context.Context, _ *runtimetest.Call, in struct {
	Message *string `json:"message"`
},
) (any, error) {
	if in.Message == nil {
		return nil, errors.New("invalid arguments: message is missing")
	}
	return text("%s", *in.Message), nil
}
