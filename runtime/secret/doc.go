// Package secret keeps secrets out of what is printed. [Text] is a secret text
// that no way of printing shows: the one way out is [Text.Reveal]. A [Redactor]
// replaces secrets in texts that others have written, such as the error message
// of a server that repeats the token it was given. [LooksName] and [LooksText]
// tell which values are likely to be secret.
package secret
