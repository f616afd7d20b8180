// Reads lines with a JSON array of URIs each, and writes for each line what Node reads:
// an array with [scheme, host, port, path] or null for each URI.
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

function decoded(path) {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function read(text) {
  try {
    const url = new URL(text)
    const path = url.protocol === 'file:' ? fileURLToPath(url) : decoded(url.pathname)
    return [url.protocol.slice(0, -1), url.hostname, url.port, path]
  } catch {
    return null
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(JSON.parse(line).map(read)) + '\n')
}
