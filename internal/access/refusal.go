package access

// Refusal is why a credential is not accepted. It has no part of the credential.
type Refusal struct {
	// Status is that of the HTTP answer.
	Status int
	// Code is the error of RFC 6750, 3.1, "" where there was no credential.
	Code string
	// Description is one of a few texts.
	Description string
	// Reason is a word for the log: which check has failed.
	Reason string
	// Scopes are those that the credential would need, for a status of 403.
	Scopes []string
}

func (r *Refusal) Error() string { return r.Description }

var (
	// ErrNoCredential is that a request has none.
	ErrNoCredential = &Refusal{Status: 401, Description: "a credential is required: send Authorization: Bearer TOKEN", Reason: "none"}
	// ErrMalformed is that a request has a credential in a form or place that none has.
	ErrMalformed = &Refusal{Status: 400, Code: "invalid_request", Description: "one Authorization header with Bearer and a token is required", Reason: "malformed"}
	// ErrInURL is that a request has a token where it ends in logs.
	ErrInURL = &Refusal{Status: 400, Code: "invalid_request", Description: "a token must not be in the URL", Reason: "url"}
	// ErrUnavailable is that credentials cannot be checked now.
	ErrUnavailable = &Refusal{Status: 503, Code: "temporarily_unavailable", Description: "credentials cannot be checked now", Reason: "unavailable"}
	// ErrUnknownToken is that a token is none that is accepted.
	ErrUnknownToken = &Refusal{Status: 401, Code: "invalid_token", Description: "the token is not known", Reason: "unknown"}
	// ErrExpired is that a credential has ended.
	ErrExpired = &Refusal{Status: 401, Code: "invalid_token", Description: "the token has expired", Reason: "expired"}
)
