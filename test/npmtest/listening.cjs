// With node --require listening.cjs SERVER, the server writes where it listens to standard
// error. A server with PORT=0 then tells which port it got: none has to be chosen for it.
const { Server } = require("node:net");

const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once("listening", () => {
    const address = this.address(); // a text for a Unix socket
    if (typeof address === "object") process.stderr.write(`listening: http://127.0.0.1:${address.port}\n`);
  });
  return listen.apply(this, args);
};
