/**
 * Whether an `If-None-Match` header names this entity tag: one of a list, weak or strong, or `*`.
 * A reader that holds any of them has our bytes already.
 */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag) return true
  return header.split(',').some((part) => {
    const tag = part.trim()
    return tag === '*' || tag === etag || tag === `W/${etag}`
  })
}
