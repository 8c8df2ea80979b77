/**
 * Whether an `If-None-Match` header names this entity tag: in a list, weak or strong, or by `*`.
 * The client then has our bytes already.
 */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag) return true
  return header.split(',').some((part) => {
    const tag = part.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
