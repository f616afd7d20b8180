package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
)

const searchName = "serve.search"

const (
	searchExample     = "as in search: {vocabulary: words.txt}"
	embeddingsExample = `as in embeddings: {url: "http://127.0.0.1:11434/v1/embeddings", model: nomic-embed-text}`
)

// Search says how tools are searched. The zero value is by words, and those that are built
// in.
type Search struct {
	// Vocabulary is a file of words that mean nearly the same, absolute; "" is none.
	Vocabulary string
	// Embeddings says where vectors of texts come from, nil for nowhere.
	Embeddings *Embeddings
	// Native are the names of programs that search tools by themselves, nil for those that
	// are known to.
	Native []string
}

// Embeddings are an endpoint with the interface of OpenAI's.
type Embeddings struct {
	URL, Model string
	// Headers are sent to it, each value with variables to expand.
	Headers map[string]string
	// Dimensions is how long vectors are, 0 as long as the model makes them.
	Dimensions int
	// Timeout is how long a search waits, Batch how many texts are sent at once.
	Timeout time.Duration
	Batch   int
}

const (
	mostDimensions = 8192
	mostBatch      = 2048
	mostTimeout    = 10 * time.Second
	maxVocabulary  = 1 << 20
)

// checkSearch is readSearch for [sections].
func checkSearch(f *file, _ *yaml.Node, _ *Access) error {
	_, err := f.readSearch()
	return err
}

// readSearch reads the section.
func (f *file) readSearch() (Search, error) {
	var s Search
	n := f.node(searchName)
	if n == nil {
		return s, nil
	}
	var in struct {
		Vocabulary string    `yaml:"vocabulary"`
		Embeddings yaml.Node `yaml:"embeddings"`
		Native     []string  `yaml:"native"`
	}
	if err := f.decode(searchName, n, &in, searchExample); err != nil {
		return s, err
	}
	s.Native = in.Native
	if in.Vocabulary != "" {
		s.Vocabulary = filepath.Clean(f.absolute(in.Vocabulary))
	}
	if in.Embeddings.IsZero() {
		return s, nil
	}
	var err error
	s.Embeddings, err = f.embeddings(resolved(&in.Embeddings))
	return s, err
}

func (f *file) embeddings(n *yaml.Node) (*Embeddings, error) {
	const name = searchName + ".embeddings"
	e := &Embeddings{Timeout: search.DefaultTimeout, Batch: search.DefaultBatch}
	in := struct {
		URL        string            `yaml:"url"`
		Model      string            `yaml:"model"`
		Headers    map[string]string `yaml:"headers"`
		Dimensions int               `yaml:"dimensions"`
		Timeout    string            `yaml:"timeout"`
		Batch      int               `yaml:"batch"`
	}{Batch: e.Batch}
	if err := f.decode(name, n, &in, embeddingsExample); err != nil {
		return nil, err
	}
	switch {
	case in.URL == "":
		return nil, f.problemAt(n, name+" needs url", embeddingsExample)
	case in.Model == "":
		return nil, f.problemAt(n, name+" needs model", embeddingsExample)
	case in.Dimensions < 0 || in.Dimensions > mostDimensions:
		return nil, f.problemAt(n, fmt.Sprintf("%s.dimensions is %d, want a number up to %d", name, in.Dimensions, mostDimensions), "without it vectors are as long as the model makes them")
	case in.Batch < 1 || in.Batch > mostBatch:
		return nil, f.problemAt(n, fmt.Sprintf("%s.batch is %d, want a number of texts up to %d", name, in.Batch, mostBatch), "as in batch: 64")
	}
	if why := auditURL(in.URL); why != "" {
		return nil, f.problemAt(n, name+".url is "+why, embeddingsExample)
	}
	if in.Timeout != "" {
		var err error
		if e.Timeout, err = config.ParseDuration(in.Timeout); err != nil || e.Timeout <= 0 || e.Timeout > mostTimeout {
			return nil, f.problemAt(n, name+".timeout is "+quote(in.Timeout)+", want a duration up to 10s", "as in timeout: 300ms; a search waits so long, and then goes by words alone")
		}
	}
	for header, value := range in.Headers {
		if _, _, err := ParseHeader(header + "=" + value); err != nil {
			return nil, f.problemAt(n, name+".headers "+err.Error(), `as in headers: {Authorization: "Bearer ${API_KEY}"}`)
		}
		if !placeholder().MatchString(value) {
			return nil, f.problemAt(n, name+".headers has "+header+" in plain text", `name a variable that has it, as in headers: {`+header+`: "${API_KEY}"}`)
		}
	}
	e.URL, e.Model, e.Headers, e.Dimensions, e.Batch = in.URL, in.Model, in.Headers, in.Dimensions, in.Batch
	return e, nil
}

// ExpandHeaders returns the headers of a section with the values of their variables. One
// without a value is an error.
func ExpandHeaders(section string, headers map[string]string, getenv func(string) string) (map[string]secret.Text, error) {
	out := map[string]secret.Text{}
	for name, value := range headers {
		var missing string
		value = os.Expand(value, func(variable string) string {
			v := getenv(variable)
			if v == "" {
				missing = variable
			}
			return v
		})
		if missing != "" {
			return nil, &ui.Error{Kind: "config", Err: fmt.Errorf("%s.headers: the variable %s of %s is not set", section, missing, name), Remedy: "set " + missing}
		}
		out[name] = secret.New(value)
	}
	return out, nil
}

// Words returns the vocabulary that is built in with that of the file. Its error names the
// file, and what is wrong with it.
func (s Search) Words() (*search.Vocabulary, error) {
	if s.Vocabulary == "" {
		return search.Default(), nil
	}
	text, err := atomicfile.Read(s.Vocabulary, maxVocabulary)
	if err != nil {
		return search.Default(), config.FileProblem(s.Vocabulary, err)
	}
	words, err := search.Default().With(string(text))
	if err != nil {
		return search.Default(), &config.Problem{File: s.Vocabulary, Message: strings.TrimPrefix(err.Error(), "vocabulary, "), Remedy: "a line is a group of words that mean nearly the same, as in: refund reimburse money_back"}
	}
	return words, nil
}
