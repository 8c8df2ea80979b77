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
