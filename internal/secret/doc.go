// Package secret keeps secrets out of output. [Text] is a secret text that only
// [Text.Reveal] shows. A [Redactor] replaces secrets in texts of others, such as
// the error message of a server that repeats its token. [LooksName] and
// [LooksText] report which values are likely to be secret.
package secret
