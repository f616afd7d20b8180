package revision

// Members of _meta that the protocol owns (2026-07-28, Overview, General
// fields), and one of ours.
const (
	MetaPrefix       = "io.modelcontextprotocol/"
	MetaVersion      = MetaPrefix + "protocolVersion"
	MetaClient       = MetaPrefix + "clientInfo"
	MetaCapabilities = MetaPrefix + "clientCapabilities"
	MetaLogLevel     = MetaPrefix + "logLevel"
	// MetaSubscription names the listen that a notification answers.
	MetaSubscription = MetaPrefix + "subscriptionId"
	// MetaRelatedTask names the task that a message of the handshake era belongs
	// to, MetaImmediateResponse what a model is told meanwhile (2025-11-25, Tasks).
	MetaRelatedTask       = MetaPrefix + "related-task"
	MetaImmediateResponse = MetaPrefix + "model-immediate-response"
	// MetaServer names the server that has answered. Behind a proxy that is the
	// proxy; MetaBackend then names the server behind it.
	MetaServer  = MetaPrefix + "serverInfo"
	MetaBackend = "dev.mcpctl/backendServerInfo"
)

// Members of results that ask for input, and of the requests that answer them
// (2026-07-28, Multi round-trip requests).
const (
	MemberResultType     = "resultType"
	MemberInputRequests  = "inputRequests"
	MemberInputResponses = "inputResponses"
	MemberRequestState   = "requestState"
)

// Members of results that say how long they hold, and for whom (2026-07-28,
// Caching).
const (
	MemberTTL        = "ttlMs"
	MemberCacheScope = "cacheScope"
)

// Values of resultType.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
	ResultTask          = "task" // of the tasks extension
)
