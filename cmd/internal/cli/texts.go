package cli

// Long is the help of mcpctl auth login.
const Long = `Log in to a remote server with the browser, or as its entry's auth says, and store the token.

--no-browser prints the page's address. If the browser runs on another machine, paste the address at which it ends. --device
prints a code to enter on another device; this is the default without a browser and a terminal. If a server has no such login,
mcpctl asks for a token that you created by hand. --token-stdin reads it from standard input.`
