package settings

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// registries parses the setting registry: a line for each, a URL or a JSON object with
// the members url, headers, auth and allowInsecureHttp of a remote server's entry.
// Several URLs may be on one line.
func registries(s string) (any, error) {
	var all []config.Entry
	for _, text := range registryTexts(s) {
		entry, err := registryEntry(text)
		if err != nil {
			return nil, err
		}
		all = append(all, entry)
	}
	if len(all) == 0 {
		return nil, errors.New("want a URL that begins with https:// or http://")
	}
	return all, nil
}

func registryTexts(s string) (all []string) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
			all = append(all, line)
			continue
		}
		all = append(all, strings.Fields(line)...)
	}
	return all
}

// registryEntry returns the entry of one registry. Its error completes a sentence and
// quotes no value of an object.
func registryEntry(text string) (config.Entry, error) {
	var given struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
		Auth    json.RawMessage   `json:"auth,omitempty"`
		Allow   bool              `json:"allowInsecureHttp,omitempty"`
	}
	if strings.HasPrefix(text, "{") {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if d.Decode(&given) != nil {
			return config.Entry{}, errors.New("want a URL, or an object with url, headers, auth and allowInsecureHttp")
		}
	} else {
		given.URL = text
	}
	given.URL = strings.TrimRight(given.URL, "/")
	if reason := urlReason(given.URL); reason != "" {
		return config.Entry{}, errors.New(reason)
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"registry": given}})
	if err != nil {
		return config.Entry{}, err
	}
	f, err := config.Parse("", raw)
	if err != nil {
		return config.Entry{}, err
	}
	e, _ := f.Entry("registry")
	e.Name = "registry " + config.DisplayURL(given.URL)
	if e.Fault != nil {
		return config.Entry{}, errors.New(e.Fault.Message)
	}
	return e, nil
}

// displayRegistries returns a wrong value of the setting for a message: the first text
// that is no registry, without secrets.
func displayRegistries(s string) string {
	for _, text := range registryTexts(s) {
		if _, err := registryEntry(text); err != nil {
			return displayRegistry(text)
		}
	}
	return ""
}

// displayRegistry returns the text of one registry without secrets: of an object its URL.
func displayRegistry(text string) string {
	var object struct{ URL string }
	if !strings.HasPrefix(text, "{") {
		return config.DisplayURL(text)
	}
	if json.Unmarshal([]byte(text), &object) != nil || object.URL == "" {
		return "{…}"
	}
	return "{" + config.DisplayURL(object.URL) + "…}"
}

// shownRegistries returns the value of the setting without secrets.
func shownRegistries(s string) string {
	var all []string
	for _, text := range registryTexts(s) {
		all = append(all, displayRegistry(text))
	}
	return strings.Join(all, ", ")
}
