package screens_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// isServer is the environment variable that makes this test binary the server of the
// screens.
const isServer = "SCREENS_SERVER"

// What is to be copied from the screens: never cut, at no width.
const (
	longURI  = "tracker://organisations/an-organisation-with-a-long-name/projects/frontend/issues/FRONTEND-1234?expand=comments"
	longTool = "search_issues_of_all_projects"
	farURL   = "https://mcp.tracker.example.com/organisations/an-organisation-with-a-long-name/mcp"
)

// tracker is a server like those that people use: long names, many arguments, texts of
// several lines.
func tracker() *runtimetest.Server {
	add := func(s *runtimetest.Server, definition string, call runtimetest.Func) {
		s.Tools = append(s.Tools, runtimetest.Tool{Definition: json.RawMessage(strings.ReplaceAll(definition, "\n", " ")), Call: call})
	}
	fixed := func(result string) runtimetest.Func {
		return func(context.Context, *runtimetest.Call) (json.RawMessage, error) { return json.RawMessage(result), nil }
	}
	s := &runtimetest.Server{Name: "tracker"}
	add(s, `{"name":"whoami","description":"\nThe user that the token belongs to.\nIt has a name.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`, fixed(`{"content":[]}`))
	add(s, `{"name":"`+longTool+`","description":"Finds issues in all projects of an organisation, by words and by their state; the newest come first.",
		"annotations":{"readOnlyHint":true,"openWorldHint":true},
		"inputSchema":{"type":"object","required":["organizationSlug","naturalLanguageQuery"],"properties":{
		"organizationSlug":{"type":"string","description":"The organisation's short name."},"naturalLanguageQuery":{"type":"string"},
		"state":{"type":"string","description":"Only issues in this state.","enum":["new","accepted","planned","started","blocked","in review","done","released","rejected","duplicate"]},
		"projectSlug":{"type":["string","null"]},"regionUrl":{"type":["string","null"]},"environment":{"type":"string"},"statsPeriod":{"type":"string"},
		"sort":{"enum":["date","user"]},"limit":{"type":"integer","default":20},"includeExplanation":{"type":"boolean","default":false}}}}`, fixed(`{"content":[]}`))
	add(s, `{"name":"create_issue","description":"Creates an issue.","annotations":{"destructiveHint":false},
		"inputSchema":{"type":"object","required":["title","labels"],"properties":{"title":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}},"due":{"type":"string","format":"date"}}}}`,
		fixed(`{"isError":true,"content":[{"type":"text","text":"The tracker refuses the issue (422): {\"errors\":{\"title\":[\"is too long (maximum is 80 characters)\"],\"due\":[\"is in the past\"]}}"}]}`))
	add(s, `{"name":"delete_project","description":"Deletes a project with all its issues. This cannot be undone.","annotations":{"destructiveHint":true,"idempotentHint":true},
		"inputSchema":{"type":"object","required":["projectSlug"],"properties":{"projectSlug":{"type":"string"}}}}`, func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		_, err := c.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"Delete the project frontend with 1,234 issues?","requestedSchema":{"type":"object","properties":{"confirm":{"type":"string","title":"Type the project's name","description":"The short name, as in its address."}},"required":["confirm"]}}`))
		return runtimetest.Text("deleted"), err
	})
	add(s, `{"name":"import_issues","description":"Imports issues from a file, and says how far it is.","inputSchema":{"type":"object"}}`, func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		c.Progress(45, 100, "45 of 100 issues are imported, the next is FRONTEND-1234: the page of the settings is empty in some browsers")
		<-ctx.Done() // the screen is taken, then the terminal is closed
		return nil, ctx.Err()
	})
	s.Resources = []runtimetest.Resource{
		{Definition: json.RawMessage(`{"uri":"` + longURI + `","name":"FRONTEND-1234","title":"Settings are empty","mimeType":"application/json","size":1234,"description":"The issue with its comments."}`)},
		{Definition: json.RawMessage(`{"uri":"tracker://me","name":"me","mimeType":"text/plain","description":"The user."}`)},
	}
	return s
}

func serveTracker() error { return tracker().Serve(context.Background(), os.Stdin, os.Stdout) }
