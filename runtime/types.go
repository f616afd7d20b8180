package runtime

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// Tool is one entry of tools/list.
type Tool struct {
	Name         string           `json:"name"`
	Title        string           `json:"title,omitempty"`
	Description  string           `json:"description,omitempty"`
	InputSchema  json.RawMessage  `json:"inputSchema"`
	OutputSchema json.RawMessage  `json:"outputSchema,omitempty"`
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
	// Raw is the entry as the server sent it.
	Raw json.RawMessage `json:"-"`
}

// ToolAnnotations are hints of the server about a tool. They are claims, not
// guarantees. Nil means the specification's default: not read-only,
// destructive, not idempotent, open world.
type ToolAnnotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// Resource is one entry of resources/list.
type Resource struct {
	URI         string          `json:"uri"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	MIMEType    string          `json:"mimeType,omitempty"`
	Size        *int64          `json:"size,omitempty"`
	Raw         json.RawMessage `json:"-"`
}

// ResourceTemplate is one entry of resources/templates/list.
type ResourceTemplate struct {
	URITemplate string          `json:"uriTemplate"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	MIMEType    string          `json:"mimeType,omitempty"`
	Raw         json.RawMessage `json:"-"`
}

// Prompt is one entry of prompts/list.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Raw         json.RawMessage  `json:"-"`
}

// PromptArgument is one argument of a prompt; its value is always a string.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// Content is one block of a tool result or prompt message, decoded as far as
// usually needed; Raw has the rest.
type Content struct {
	// Type is "text", "image", "audio", "resource_link" or "resource"; others
	// may come with later revisions.
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// URI, Name and Title belong to a resource_link.
	URI   string `json:"uri,omitempty"`
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	// Resource belongs to an embedded resource.
	Resource *ResourceContents `json:"resource,omitempty"`
	Raw      json.RawMessage   `json:"-"`
}

// UnmarshalJSON decodes the block and keeps its bytes. Invalid base64 is left out:
// one bad block does not hide the others.
func (c *Content) UnmarshalJSON(b []byte) error {
	type plain Content
	v := struct {
		*plain
		Data string `json:"data"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	c.Data = decoded(v.Data)
	c.Raw = append(json.RawMessage(nil), b...)
	return nil
}

// decoded returns the bytes of base64 text, nil if invalid.
func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 {
		return nil
	}
	return b
}

// MarshalJSON returns the bytes that the block was decoded from, if any.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Raw != nil {
		return c.Raw, nil
	}
	type plain Content
	return json.Marshal(plain(c))
}

// ResourceContents is one item of a resources/read result. A text resource has
// Text, a binary one Blob.
type ResourceContents struct {
	URI      string `json:"uri"`
	MIMEType string `json:"mimeType,omitempty"`
	Text     string `json:"text,omitempty"`
	Blob     []byte `json:"blob,omitempty"`
}

// UnmarshalJSON decodes the item. Invalid base64 is left out.
func (r *ResourceContents) UnmarshalJSON(b []byte) error {
	type plain ResourceContents
	v := struct {
		*plain
		Blob string `json:"blob"`
	}{plain: (*plain)(r)}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	r.Blob = decoded(v.Blob)
	return nil
}

// ToolResult is the result of tools/call.
type ToolResult struct {
	Content []Content `json:"content"`
	// Structured is structuredContent as it came, nil when absent.
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	// Raw is the whole result as the server sent it.
	Raw json.RawMessage `json:"-"`
}

// ParseToolResult decodes a tools/call result and keeps its bytes.
func ParseToolResult(raw json.RawMessage) (*ToolResult, error) {
	var r *ToolResult // stays nil for null, which is an error as well
	err := json.Unmarshal(raw, &r)
	if err == nil && r == nil {
		err = errors.New("got null")
	}
	if err != nil {
		return nil, &ProtocolError{Reason: "tools/call: the result is not one: " + err.Error()}
	}
	r.Raw = raw
	return r, nil
}

// Text joins the text blocks with newlines.
func (r *ToolResult) Text() string {
	var parts []string
	for _, c := range r.Content {
		if c.Type == "text" {
			parts = append(parts, c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// ResourceResult is the result of resources/read.
type ResourceResult struct {
	// Contents is usually one item, more where a URI names several resources,
	// such as a directory.
	Contents []ResourceContents `json:"contents"`
	// Raw is the whole result as the server sent it.
	Raw json.RawMessage `json:"-"`
}

// PromptResult is the result of prompts/get.
type PromptResult struct {
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
	// Raw is the whole result as the server sent it.
	Raw json.RawMessage `json:"-"`
}

// PromptMessage is one message of a prompt. Role is "user" or "assistant".
type PromptMessage struct {
	Role    string  `json:"role"`
	Content Content `json:"content"`
}

// Progress is one notifications/progress message.
type Progress struct {
	Progress float64 `json:"progress"`
	// Total is nil where the server does not send it.
	Total   *float64 `json:"total,omitempty"`
	Message string   `json:"message,omitempty"`
}

// Implementation names a program that speaks MCP.
type Implementation struct {
	Name       string `json:"name"`
	Title      string `json:"title,omitempty"`
	Version    string `json:"version"`
	WebsiteURL string `json:"websiteUrl,omitempty"`
}

// ServerInfo is what a server says of itself when connecting.
type ServerInfo struct {
	// Version is the protocol revision in use.
	Version string
	// Versions are the revisions that the server offers, newest first; nil where
	// it has not said, as a handshake names only one, and where the entry fixes Version.
	Versions []string
	// Implementation is for display only: never branch on it.
	Implementation Implementation
	Instructions   string
	// Capabilities is the server's capabilities object as it came.
	Capabilities json.RawMessage
}

// Has reports whether the server offers a capability, such as "tools".
func (i ServerInfo) Has(capability string) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(i.Capabilities, &m) == nil && m[capability] != nil
}
