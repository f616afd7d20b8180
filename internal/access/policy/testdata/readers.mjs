// Reads lines with a JSON array of URIs each, and writes for each line what Node reads:
// an array with [scheme, host, port, path] or null for each URI.
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

function decoded(text) {
  return text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

function read(text) {
  try {
    const url = new URL(text)
    const path = url.protocol === 'file:' ? fileURLToPath(url) : decoded(url.pathname)
    return [url.protocol.slice(0, -1), decoded(url.hostname), url.port, path]
  } catch {
    return null
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(JSON.parse(line).map(read)) + '\n')
}
