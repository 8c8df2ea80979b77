/**
 * Counts the Host headers. Of two, Node uses the first, while a proxy before us may use the other.
 * `rawHeaders` alternates names and values.
 */
export function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length === 4 && (name === 'Host' || name.toLowerCase() === 'host')) hosts += 1
  }
  return hosts
}

/** Counts how many times a request has a header, by its name in lower case. */
export const countHeaders = (rawHeaders: readonly string[], name: string): number =>
  rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === name).length

/** Headers that admit a request, or say which operation it repeats. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'authorization',
  'x-operator-token',
  'x-storefront-token',
  'idempotency-key',
])

/**
 * Whether a request has one of the CREDENTIALS headers twice. Of two, Node uses the first or joins both, while a
 * proxy before us may check the other.
 */
export function repeatsCredential(rawHeaders: readonly string[]): boolean {
  const seen: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (!CREDENTIALS.has(name)) continue
    if (seen.includes(name)) return true
    seen.push(name)
  }
  return false
}
