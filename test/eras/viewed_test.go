package eras_test

import (
	"regexp"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/wire"
)

// look gives a proxy, where suites run with them, a view that shows everything to every client. The
// list has the form that the options say.
func look(o *proxy.Options) (err error) {
	if wire.Viewed() && o.Views == nil {
		o.Views, err = views.New(map[string]views.Config{"everything": {
			Tools: []string{"*"}, Prompts: []string{"*"}, Resources: []string{"*"}, List: o.Search.List, Budget: o.Search.Budget,
		}}, "everything")
	}
	return err
}

// hook has, where suites run with them, hooks look at all arguments and results of calls.
func hook(p *proxy.Proxy) error {
	if !wire.Viewed() {
		return nil
	}
	var all []proxy.NamedHook
	for _, in := range []proxy.HookPart{proxy.InArguments, proxy.InResult} {
		h, err := proxy.NewRule(proxy.HookRule{Name: "looks", In: in, Pattern: regexp.MustCompile("nobodyHasThis"), Action: proxy.Audit})
		if err != nil {
			return err
		}
		all = append(all, proxy.NamedHook{Name: "looks-" + string(rune('a'+len(all))), Hook: h})
	}
	return p.SetHooks(all)
}
