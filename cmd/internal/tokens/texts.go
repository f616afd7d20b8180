package tokens

// Texts of the help.
const (
	AccessLong = `Say who may reach mcpctl serve over HTTP. It asks for a token if config.yaml says so:

  serve:
    auth:
      - token: {}`
	Long = `Create, list, replace and revoke the tokens with which clients reach mcpctl serve, as Authorization: Bearer TOKEN. Only
hashes are kept. Changes hold at once in a running serve.`
	AddLong    = "Create a token for a person or a program and print it. It is shown this once, since only its hash is kept."
	RotateLong = "Replace a token by a new one of the same name and groups and print that. It lasts as long as the old one did."
	Example    = "  mcpctl access token add alice --group staff --expires 90d\n  mcpctl access token revoke alice"
)
