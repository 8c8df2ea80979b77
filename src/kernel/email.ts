import { canonicalHostname } from './hostname.ts'

/** Longer than any address that mail can be sent to; what is longer is not even looked at. */
const TEXT_LENGTH_MAX = 320

/**
 * The one spelling of an e-mail address for comparing: compatible characters made alike, lower case,
 * the domain in punycode. What stands after a plus stays, since some providers do not ignore it.
 * Null when the text is no address. Never to be used for sending.
 */
export function foldEmail(text: string): string | null {
  if (text.length > TEXT_LENGTH_MAX) return null
  const folded = text.trim().normalize('NFKC').toLowerCase()
  const at = folded.lastIndexOf('@')
  const local = folded.slice(0, at)
  if (at < 1 || /[\s\p{Cc}]/u.test(local)) return null
  const domain = canonicalHostname(folded.slice(at + 1))
  return domain === null ? null : `${local}@${domain}`
}

/** The domain of a folded address. */
export const emailDomain = (folded: string): string => folded.slice(folded.lastIndexOf('@') + 1)
